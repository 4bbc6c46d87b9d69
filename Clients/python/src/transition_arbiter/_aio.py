"""The client for programs with `asyncio`."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Self, Unpack

import httpx

from . import _transport
from ._events import Event, EventParser
from ._flows import MARGIN, Flows, Ticket, TransitionOptions, has_ended
from ._wire import Answer, Document, Flow, Result, Send, backoff
from .errors import ArbiterError, Refused, TimedOut, TransitionEnded, Unreachable


class AsyncArbiter:
    """The same as `Arbiter`, for `asyncio`; tasks of one event loop may share it."""

    def __init__(
        self, url: str | None = None, *, token: str | None = None, client: str | None = None, patience: float = 30.0,
        verify: ssl.SSLContext | bool = True, headers: Mapping[str, str] | None = None,
    ) -> None:
        address = _transport.Address.of(url)
        self._flows = Flows(client, token, patience, headers)
        self._opening = asyncio.Lock()
        self._http = httpx.AsyncClient(
            base_url=address.base, transport=httpx.AsyncHTTPTransport(**_transport.options(address, verify)))

    def scene(self, name: str = "main") -> AsyncScene:
        """A scene by its name; nothing is asked."""
        return AsyncScene(self, name)

    def events(self, *, since: str | None = None, attached: bool = False) -> AsyncIterator[Event]:
        """What happens in all scenes, from now on or after the event `since`; see `AsyncScene.events`."""
        return self._events("/events", since, attached)

    async def ready(self, id: str) -> Document:
        """Says that this client, by its name, is ready for a transition in which it takes part."""
        return await self._run(self._flows.ready(id))

    async def aclose(self) -> None:
        """Ends the session, and with it what is still held."""
        try:
            await self._run(self._flows.end_session())
        except ArbiterError:
            pass  # Without a word, it ends by itself.
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    # Driving flows

    async def _open(self) -> str:
        """The token of the session, which is opened by one caller if there is none."""
        async with self._opening:
            return await self._run(self._flows.session())

    async def _send(self, send: Send) -> Answer:
        sent = _transport.now()
        try:
            response = await self._http.request(**_transport.request(send))
        except (httpx.TransportError, RuntimeError) as error:
            raise Unreachable(f"{send.method} {send.path}: {error}") from error
        return _transport.answer(response, sent)

    async def _run(
        self, flow: Flow[Result], sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
    ) -> Result:
        try:
            step = next(flow)
            while True:
                if isinstance(step, Send):
                    try:
                        answer = await self._send(step)
                    except Unreachable as error:
                        step = flow.throw(error)
                    else:
                        step = flow.send(answer)
                else:
                    await sleep(step.seconds)
                    step = next(flow)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]

    async def _events(self, path: str, since: str | None, attached: bool) -> AsyncIterator[Event]:
        last, delays = since, backoff()
        while True:
            parser = EventParser()
            try:
                session = await self._open() if attached else None
                async with self._http.stream(
                    "GET", path, headers=_transport.stream_headers(self._flows.headers, last, session),
                    timeout=_transport.STREAM_TIMEOUT,
                ) as response:
                    if response.status_code != 200:
                        await response.aread()
                        answer = _transport.answer(response, 0)
                        if session and Flows.session_is_over(answer):
                            self._flows.forget_session()
                        elif response.status_code not in (429, 503):
                            answer.document()
                    else:
                        async for line in response.aiter_lines():
                            if event := parser.take(line):
                                last, delays = event.id or last, backoff()
                                yield event
            except (httpx.TransportError, Unreachable):
                pass
            await asyncio.sleep(next(delays))


class AsyncScene:
    """One arbitrated interface."""

    def __init__(self, arbiter: AsyncArbiter, name: str) -> None:
        self.arbiter = arbiter
        self.name = name

    async def start(self, **options: Unpack[TransitionOptions]) -> AsyncTransition | None:
        """See `Scene.start`."""
        ticket = Ticket(self.name, options)
        async with self._giving_up(ticket):
            await self.arbiter._open()
            document = await self.arbiter._run(self.arbiter._flows.start(ticket))
        return None if document is None else AsyncTransition(self.arbiter, ticket)

    async def serialize(
        self, *, timeout: float | None = None, **options: Unpack[TransitionOptions]
    ) -> AsyncTransition:
        """See `Scene.serialize`. A task that is cancelled gives its ticket up."""
        ticket = Ticket(self.name, options)
        async with self._giving_up(ticket):
            await self.arbiter._open()
            if await self.arbiter._run(self.arbiter._flows.serialize(ticket, timeout)) is None:
                raise TimedOut(f"The turn in {self.name} did not come within {timeout} s")
        return AsyncTransition(self.arbiter, ticket)

    @asynccontextmanager
    async def transition(
        self, *, timeout: float | None = None, **options: Unpack[TransitionOptions]
    ) -> AsyncIterator[AsyncTransition]:
        """See `Scene.transition`: `async with scene.transition() as transition: …`."""
        transition = await self.serialize(timeout=timeout, **options)
        try:
            yield transition
        except BaseException:
            try:
                await asyncio.shield(transition.cancel())
            except (ArbiterError, asyncio.CancelledError):
                pass  # What the body raised is what the caller has to know.
            raise
        await transition.complete()

    async def declare(self, storyboard: Mapping[str, Any], *, if_undeclared: bool = False) -> Document:
        """See `Scene.declare`."""
        return await self.arbiter._run(self.arbiter._flows.declare(self.name, storyboard, if_undeclared))

    async def read(self) -> Document:
        """Its hierarchy, who runs and who waits."""
        return await self.arbiter._run(self.arbiter._flows.read(Flows.scene_path(self.name)))

    def events(self, *, since: str | None = None, attached: bool = False) -> AsyncIterator[Event]:
        """See `Scene.events`."""
        return self.arbiter._events(Flows.scene_path(self.name, "/events"), since, attached)

    @asynccontextmanager
    async def _giving_up(self, ticket: Ticket) -> AsyncIterator[None]:
        try:
            yield
        except (Refused, TransitionEnded):
            raise
        except BaseException:
            try:
                await asyncio.shield(self.arbiter._run(self.arbiter._flows.give_up(ticket)))
            except (ArbiterError, asyncio.CancelledError):
                pass  # The ticket ends with the session.
            raise


class AsyncTransition:
    """A transition that this client holds, until it ends it; see `Transition`."""

    def __init__(self, arbiter: AsyncArbiter, ticket: Ticket) -> None:
        self._arbiter = arbiter
        self._ticket = ticket
        self._is_ending = asyncio.Event()
        self.lost = asyncio.Event()
        """Set as soon as it has ended without its owner; what was begun must not be continued."""
        self.ended: Document | None = None
        """How it ended; `None` while it runs, and if its lease ran out unseen."""
        if has_ended(ticket.document):
            self.ended = ticket.document
        else:
            self._keeper = asyncio.create_task(self._keep(), name=f"transition {self.id}")

    @property
    def document(self) -> Document:
        """The transition as the daemon last showed it, without its token."""
        return {name: value for name, value in self._ticket.document.items() if name != "token"}

    @property
    def id(self) -> str:
        return str(self._ticket.document["id"])

    @property
    def fence(self) -> int | None:
        """Grows with every grant of the scene: what is written with a lower one is from an earlier holder."""
        return self._ticket.document.get("fence")

    @property
    def noop(self) -> bool:
        """Whether there was nothing to do: then it has completed already, and holds nothing."""
        return bool(self._ticket.document.get("noop"))

    async def complete(self) -> Document:
        """Ends it, and applies its operation."""
        return await self._end("completed")

    async def cancel(self) -> Document:
        """Ends it without applying its operation."""
        return await self._end("cancelled")

    async def progress(self, fraction: float, *, velocity: float | None = None, sequence: int | None = None) -> Document:
        """Where the finger is, of an interactive transition."""
        fields = {"fraction": fraction, "velocity": velocity, "sequence": sequence}
        return await self._arbiter._run(self._arbiter._flows.drive(self._ticket, "progress", fields))

    async def release(
        self, *, decision: str | None = None, fraction: float | None = None, velocity: float | None = None,
        cancelled: bool | None = None, completion_speed: float | None = None,
    ) -> Document:
        """The finger has left: decides, once, whether an interactive transition will finish or cancel."""
        fields = {
            "decision": decision, "fraction": fraction, "velocity": velocity, "cancelled": cancelled,
            "completion_speed": completion_speed,
        }
        return await self._arbiter._run(self._arbiter._flows.drive(self._ticket, "release", fields))

    def check(self) -> None:
        """Raises `TransitionEnded` if it is lost."""
        if self.lost.is_set():
            raise TransitionEnded(self.ended)

    async def _end(self, outcome: str) -> Document:
        if self.noop:
            return self.document
        self.check()
        self._is_ending.set()
        document = await self._arbiter._run(self._arbiter._flows.end(self._ticket, outcome))
        self.ended = document
        # Its await is answered by the end, so that no connection is cut.
        await asyncio.wait([self._keeper], timeout=MARGIN)
        return document

    async def _keep(self) -> None:
        flow = self._arbiter._flows.keep(self._ticket, self._is_ending.is_set)
        ended = await self._arbiter._run(flow, self._sleep)
        if not self._is_ending.is_set():
            self.ended = ended
            self.lost.set()

    async def _sleep(self, seconds: float) -> None:
        """Passes so many seconds, or fewer if its owner ends it."""
        try:
            await asyncio.wait_for(self._is_ending.wait(), seconds)
        except TimeoutError:
            pass
