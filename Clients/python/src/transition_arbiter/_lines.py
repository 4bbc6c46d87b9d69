"""A connection for each request that is on its way.

httpx's own pool looks at all of its connections whenever a request begins or ends, and each holder parks one.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Generic, TypeVar

import httpx

Line = TypeVar("Line", httpx.HTTPTransport, httpx.AsyncHTTPTransport)


class _Lines(Generic[Line]):
    # How many idle connections are kept for the next request.
    IDLE = 20

    def __init__(self, make: Callable[[], Line]) -> None:
        self._make: Callable[[], Line] = make
        self._idle: list[Line] = []
        self._all: set[Line] = set()
        self._is_closed = False

    def _take(self) -> Line:
        """An idle connection, or a new one. Raises `RuntimeError` after the end."""
        if self._is_closed:
            raise RuntimeError("The connections are closed")
        try:
            return self._idle.pop()
        except IndexError:
            line = self._make()
            self._all.add(line)
            return line

    def _keep(self, line: Line, is_whole: bool) -> bool:
        """Takes one back: whether it is kept, and need not be closed. One whose body was not closed whole may be of no use."""
        if is_whole and line in self._all and len(self._idle) < self.IDLE:
            self._idle.append(line)
            return True
        self._all.discard(line)
        return False

    def _take_all(self) -> list[Line]:
        self._is_closed = True
        lines = list(self._all)
        self._all.clear()
        self._idle.clear()
        return lines


class Lines(_Lines[httpx.HTTPTransport]):
    """For threads; `make` makes a connection."""

    def ask(self, request: httpx.Request) -> httpx.Response:
        """The whole answer to a request."""
        response = self._begin(request)
        try:
            response.read()
        finally:
            response.close()
        return response

    @contextmanager
    def follow(self, request: httpx.Request) -> Iterator[httpx.Response]:
        """The answer to a request, which is read in the body."""
        response = self._begin(request)
        try:
            yield response
        finally:
            response.close()

    def _begin(self, request: httpx.Request) -> httpx.Response:
        line = self._take()
        try:
            response = line.handle_request(request)
        except BaseException:
            self._all.discard(line)
            line.close()
            raise
        assert isinstance(response.stream, httpx.SyncByteStream)
        response.stream = _Body(response.stream, lambda is_whole: self._end(line, is_whole))
        return response

    def _end(self, line: httpx.HTTPTransport, is_whole: bool) -> None:
        if not self._keep(line, is_whole):
            line.close()

    def close(self) -> None:
        for line in self._take_all():
            line.close()


class AsyncLines(_Lines[httpx.AsyncHTTPTransport]):
    """For asyncio."""

    async def ask(self, request: httpx.Request) -> httpx.Response:
        """The whole answer to a request."""
        response = await self._begin(request)
        try:
            await response.aread()
        finally:
            await response.aclose()
        return response

    @asynccontextmanager
    async def follow(self, request: httpx.Request) -> AsyncIterator[httpx.Response]:
        """The answer to a request, which is read in the body."""
        response = await self._begin(request)
        try:
            yield response
        finally:
            await response.aclose()

    async def _begin(self, request: httpx.Request) -> httpx.Response:
        line = self._take()
        try:
            response = await line.handle_async_request(request)
        except BaseException:
            self._all.discard(line)
            await line.aclose()
            raise
        assert isinstance(response.stream, httpx.AsyncByteStream)
        response.stream = _AsyncBody(response.stream, self, line)
        return response

    async def _end(self, line: httpx.AsyncHTTPTransport, is_whole: bool) -> None:
        if not self._keep(line, is_whole):
            await line.aclose()

    async def aclose(self) -> None:
        for line in self._take_all():
            await line.aclose()


class _Body(httpx.SyncByteStream):
    """A body after whose end the connection is idle again."""

    def __init__(self, body: httpx.SyncByteStream, ended: Callable[[bool], None]) -> None:
        self._body = body
        self._ended: Callable[[bool], None] | None = ended

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._body)

    def close(self) -> None:
        ended, self._ended = self._ended, None
        is_whole = False
        try:
            self._body.close()
            is_whole = True
        finally:
            if ended is not None:
                ended(is_whole)


class _AsyncBody(httpx.AsyncByteStream):
    def __init__(self, body: httpx.AsyncByteStream, lines: AsyncLines, line: httpx.AsyncHTTPTransport) -> None:
        self._body = body
        self._lines = lines
        self._line: httpx.AsyncHTTPTransport | None = line

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._body.__aiter__()

    async def aclose(self) -> None:
        line, self._line = self._line, None
        is_whole = False
        try:
            await self._body.aclose()
            is_whole = True
        finally:
            if line is not None:
                await self._lines._end(line, is_whole)
