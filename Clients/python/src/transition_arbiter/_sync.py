"""The client for programs without `asyncio`."""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self, Unpack

import httpx

from . import _transport
from ._events import Event, EventParser
from ._flows import MARGIN, Flows, Ticket, TransitionOptions, has_ended
from ._wire import Answer, Document, Flow, Result, Send, backoff
from .errors import ArbiterError, Refused, TimedOut, TransitionEnded, Unreachable


class Arbiter:
    """A connection to `arbiterd`. Threads may share it.

    `url` is ``http://…``, ``https://…`` or ``unix:/path``; without it, the environment's ``ARBITER_URL``, or
    ``http://127.0.0.1:8080``. `token` is a bearer token, `client` the name by which people see this program, `patience` how
    many seconds a request is repeated while the daemon cannot be reached or is starting, and `verify` a context with the
    certificates that are trusted. `headers` are sent with every request, for example ``traceparent``.

    All transitions of one `Arbiter` are bound to one session: if this process dies, they end within seconds.
    """

    def __init__(
        self, url: str | None = None, *, token: str | None = None, client: str | None = None, patience: float = 30.0,
        verify: ssl.SSLContext | bool = True, headers: Mapping[str, str] | None = None,
    ) -> None:
        address = _transport.Address.of(url)
        self._flows = Flows(client, token, patience, headers)
        self._opening = threading.Lock()
        self._http = httpx.Client(
            base_url=address.base, transport=httpx.HTTPTransport(**_transport.options(address, verify)))

    def scene(self, name: str = "main") -> Scene:
        """A scene by its name; nothing is asked."""
        return Scene(self, name)

    def events(self, *, since: str | None = None, attached: bool = False) -> Iterator[Event]:
        """What happens in all scenes, from now on or after the event `since`; see `Scene.events`."""
        return self._events("/events", since, attached)

    def ready(self, id: str) -> Document:
        """Says that this client, by its name, is ready for a transition in which it takes part."""
        return self._run(self._flows.ready(id))

    def close(self) -> None:
        """Ends the session, and with it what is still held."""
        try:
            self._run(self._flows.end_session())
        except ArbiterError:
            pass  # Without a word, it ends by itself.
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Driving flows

    def _open(self) -> str:
        """The token of the session, which is opened by one caller if there is none."""
        with self._opening:
            return self._run(self._flows.session())

    def _send(self, send: Send) -> Answer:
        sent = _transport.now()
        try:
            response = self._http.request(**_transport.request(send))
        except (httpx.TransportError, RuntimeError) as error:
            raise Unreachable(f"{send.method} {send.path}: {error}") from error
        return _transport.answer(response, sent)

    def _run(self, flow: Flow[Result], sleep: Callable[[float], object] = time.sleep) -> Result:
        try:
            step = next(flow)
            while True:
                if isinstance(step, Send):
                    try:
                        answer = self._send(step)
                    except Unreachable as error:
                        step = flow.throw(error)
                    else:
                        step = flow.send(answer)
                else:
                    sleep(step.seconds)
                    step = next(flow)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]

    def _events(self, path: str, since: str | None, attached: bool) -> Iterator[Event]:
        last, delays = since, backoff()
        while True:
            parser = EventParser()
            try:
                session = self._open() if attached else None
                with self._http.stream(
                    "GET", path, headers=_transport.stream_headers(self._flows.headers, last, session),
                    timeout=_transport.STREAM_TIMEOUT,
                ) as response:
                    if response.status_code != 200:
                        response.read()
                        answer = _transport.answer(response, 0)
                        if session and Flows.session_is_over(answer):
                            self._flows.forget_session()
                        elif response.status_code not in (429, 503):
                            answer.document()
                    else:
                        for line in response.iter_lines():
                            if event := parser.take(line):
                                last, delays = event.id or last, backoff()
                                yield event
            except (httpx.TransportError, Unreachable):
                pass
            time.sleep(next(delays))


class Scene:
    """One arbitrated interface."""

    def __init__(self, arbiter: Arbiter, name: str) -> None:
        self.arbiter = arbiter
        self.name = name

    def start(self, **options: Unpack[TransitionOptions]) -> Transition | None:
        """Tries at once.

        Returns the transition, or `None` if another one is in the way: then the event is dropped. Raises `Refused` if what
        it asks for is impossible.
        """
        ticket = Ticket(self.name, options)
        with self._giving_up(ticket):
            self.arbiter._open()
            document = self.arbiter._run(self.arbiter._flows.start(ticket))
        return None if document is None else Transition(self.arbiter, ticket)

    def serialize(self, *, timeout: float | None = None, **options: Unpack[TransitionOptions]) -> Transition:
        """Waits for its turn, strictly first come, first served, at most `timeout` seconds.

        Returns the transition, which runs, or has ended with `noop` if there was nothing to do. Raises `TimedOut`,
        `TransitionEnded` if it is impossible when its turn comes, `Refused` if it cannot even queue.
        """
        ticket = Ticket(self.name, options)
        with self._giving_up(ticket):
            self.arbiter._open()
            if self.arbiter._run(self.arbiter._flows.serialize(ticket, timeout)) is None:
                raise TimedOut(f"The turn in {self.name} did not come within {timeout} s")
        return Transition(self.arbiter, ticket)

    @contextmanager
    def transition(
        self, *, timeout: float | None = None, **options: Unpack[TransitionOptions]
    ) -> Iterator[Transition]:
        """Waits for its turn, and holds it while the body runs: `with scene.transition() as transition: …`.

        It is completed at the end of the body, and cancelled if the body raises. If it was lost meanwhile, the body is told
        by `transition.lost`, and `TransitionEnded` is raised at its end.
        """
        transition = self.serialize(timeout=timeout, **options)
        try:
            yield transition
        except BaseException:
            try:
                transition.cancel()
            except ArbiterError:
                pass  # What the body raised is what the caller has to know.
            raise
        transition.complete()

    def declare(self, storyboard: Mapping[str, Any], *, if_undeclared: bool = False) -> Document:
        """Declares the hierarchy, segues, transition types and defaults; `if_undeclared`: only if nobody has (412)."""
        return self.arbiter._run(self.arbiter._flows.declare(self.name, storyboard, if_undeclared))

    def read(self) -> Document:
        """Its hierarchy, who runs and who waits."""
        return self.arbiter._run(self.arbiter._flows.read(Flows.scene_path(self.name)))

    def events(self, *, since: str | None = None, attached: bool = False) -> Iterator[Event]:
        """What happens here, from now on or after the event `since`, until the iteration is left.

        A stream that is cut is resumed without a gap. Where the past is gone, a ``reset`` has the scene as it is. A stream
        that is `attached` keeps the session alive: a client that takes part in the transitions of others has one.
        """
        return self.arbiter._events(Flows.scene_path(self.name, "/events"), since, attached)

    @contextmanager
    def _giving_up(self, ticket: Ticket) -> Iterator[None]:
        try:
            yield
        except (Refused, TransitionEnded):
            raise
        except BaseException:
            try:
                self.arbiter._run(self.arbiter._flows.give_up(ticket))
            except ArbiterError:
                pass  # The ticket ends with the session.
            raise


class Transition:
    """A transition that this client holds, until it ends it."""

    def __init__(self, arbiter: Arbiter, ticket: Ticket) -> None:
        self._arbiter = arbiter
        self._ticket = ticket
        self._is_ending = threading.Event()
        self.lost = threading.Event()
        """Set as soon as it has ended without its owner; what was begun must not be continued."""
        self.ended: Document | None = None
        """How it ended; `None` while it runs, and if its lease ran out unseen."""
        if has_ended(ticket.document):
            self.ended = ticket.document
        else:
            self._keeper = threading.Thread(
                target=self._keep, name=f"transition {self.id}", daemon=True)
            self._keeper.start()

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

    def complete(self) -> Document:
        """Ends it, and applies its operation.

        Raises `TransitionEnded` if it has ended without its owner.
        """
        return self._end("completed")

    def cancel(self) -> Document:
        """Ends it without applying its operation.

        Raises `TransitionEnded` if it has ended without its owner.
        """
        return self._end("cancelled")

    def progress(self, fraction: float, *, velocity: float | None = None, sequence: int | None = None) -> Document:
        """Where the finger is, of an interactive transition."""
        fields = {"fraction": fraction, "velocity": velocity, "sequence": sequence}
        return self._arbiter._run(self._arbiter._flows.drive(self._ticket, "progress", fields))

    def release(
        self, *, decision: str | None = None, fraction: float | None = None, velocity: float | None = None,
        cancelled: bool | None = None, completion_speed: float | None = None,
    ) -> Document:
        """The finger has left: decides, once, whether an interactive transition will finish or cancel."""
        fields = {
            "decision": decision, "fraction": fraction, "velocity": velocity, "cancelled": cancelled,
            "completion_speed": completion_speed,
        }
        return self._arbiter._run(self._arbiter._flows.drive(self._ticket, "release", fields))

    def check(self) -> None:
        """Raises `TransitionEnded` if it is lost."""
        if self.lost.is_set():
            raise TransitionEnded(self.ended)

    def _end(self, outcome: str) -> Document:
        if self.noop:
            return self.document
        self.check()
        self._is_ending.set()
        document = self._arbiter._run(self._arbiter._flows.end(self._ticket, outcome))
        self.ended = document
        # Its await is answered by the end, so that no connection is cut.
        self._keeper.join(MARGIN)
        return document

    def _keep(self) -> None:
        ended = self._arbiter._run(self._arbiter._flows.keep(self._ticket, self._is_ending.is_set), self._is_ending.wait)
        if not self._is_ending.is_set():
            self.ended = ended
            self.lost.set()
