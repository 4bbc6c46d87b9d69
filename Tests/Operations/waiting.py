"""Waiting for conditions, each for a limited time."""

import contextlib
import http.client
import json
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Self

# How long a test waits for anything, in seconds.
PATIENCE = 30


class Lines:
    """The lines of a pipe or an answer, which a thread reads as they come."""

    def __init__(self, source: Iterable[str] | Iterable[bytes]) -> None:
        self._lines: list[str] = []
        self._is_over = False
        self._changed = threading.Condition()
        # The first line that `next` has not looked at.
        self._place = 0
        threading.Thread(target=self._read, args=[source], daemon=True).start()

    def _read(self, source: Iterable[str] | Iterable[bytes]) -> None:
        # A connection whose daemon is killed ends with an error.
        with contextlib.suppress(OSError, http.client.HTTPException):
            for line in source:
                with self._changed:
                    self._lines.append(line if isinstance(line, str) else line.decode())
                    self._changed.notify_all()
        with self._changed:
            self._is_over = True
            self._changed.notify_all()

    def next(self, pattern: str) -> str:
        """Waits for a line that contains the pattern, behind the one that the last call returned."""
        with self._changed:
            found = self._changed.wait_for(lambda: self._find(pattern) or self._is_over, PATIENCE)
            assert isinstance(found, str), f"no line has {pattern!r}:\n{''.join(self._lines)}"
            return found

    def _find(self, pattern: str) -> str | None:
        while self._place < len(self._lines):
            self._place += 1
            if re.search(pattern, self._lines[self._place - 1]):
                return self._lines[self._place - 1]
        return None

    def all(self) -> str:
        """Waits until there are no more to come."""
        with self._changed:
            assert self._changed.wait_for(lambda: self._is_over, PATIENCE)
            return "".join(self._lines)


class Events:
    """A stream of events, from where the answer with it begins; it ends with its daemon."""

    def __init__(self, stream: http.client.HTTPResponse) -> None:
        self._lines = Lines(stream)

    def next(self, name: str) -> dict:
        """Waits for an event of this name, behind the one that the last call returned, and returns its data."""
        self._lines.next(f"^event: {re.escape(name)}\n")
        return json.loads(self._lines.next("^data: ").removeprefix("data: "))

    def all(self) -> str:
        """Waits until the stream has ended, and returns its text."""
        return self._lines.all()


class Load:
    """Generators that run at the same time, each in a thread of its own, until they are told to end."""

    def __init__(self, *generators: Iterator[None]) -> None:
        self._steps = 0
        self._failures: list[Exception] = []
        self._changed = threading.Condition()
        self._is_over = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=[each]) for each in generators]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        self._is_over.set()
        for thread in self._threads:
            thread.join()
        assert error or not self._failures, self._failures

    def _run(self, generator: Iterator[None]) -> None:
        try:
            with contextlib.closing(generator):
                for _ in generator:
                    with self._changed:
                        self._steps += 1
                        self._changed.notify_all()
                    if self._is_over.is_set():
                        return
        except Exception as error:
            with self._changed:
                self._failures.append(error)
                self._changed.notify_all()

    def wait_for_steps(self, count: int) -> None:
        """Waits until the generators have yielded so many times more."""
        with self._changed:
            wanted = self._steps + count
            assert self._changed.wait_for(lambda: self._steps >= wanted or self._failures, PATIENCE)
            assert not self._failures, self._failures


def polled(condition: Callable[[], object]) -> bool:
    """Whether a condition holds before long, looked at again and again.

    Only for what nothing tells when it changes: how many connections the daemon counts, whether a limit lets a client
    pass again, and what Prometheus has scraped.
    """
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
