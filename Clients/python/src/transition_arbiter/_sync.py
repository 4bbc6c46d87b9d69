"""The client for programs without `asyncio`."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Self, Unpack

import httpx

from . import _transport
from ._events import Event, EventStream
from ._flows import MARGIN, Flows, Ticket, TransitionOptions
from ._held import HeldTransition
from ._sync_hierarchy import Hierarchy
from ._wire import Answer, Document, Flow, Result, Send, now
from .errors import ArbiterError, Closed, TimedOut, Unreachable


class Arbiter:
    """A connection to `arbiterd`. Threads may share it.

    `url` is ``http://…``, ``https://…`` or ``unix:/path``; without it, the environment's ``ARBITER_URL``, or
    ``http://127.0.0.1:8080``. `token` is a bearer token, `client` the name by which people see this program, `patience` how
    many seconds a request is repeated while the daemon cannot be reached or is starting, and `verify` a context with the
    certificates that are trusted. `headers` are sent with every request, for example ``traceparent``. Raises `ValueError` for
    another kind of URL, and for a token or a header field that cannot be sent.

    All transitions of one `Arbiter` are bound to one session: if this process dies, they end within two seconds; in the
    moment between the grant and the first parked request, when the lease has run out.
    """

    def __init__(
        self, url: str | None = None, *, token: str | None = None, client: str | None = None, patience: float = 30.0,
        verify: ssl.SSLContext | bool = True, headers: Mapping[str, str] | None = None,
    ) -> None:
        address = _transport.Address.of(url)
        self._closing = threading.Event()
        self._flows = Flows(client, token, patience, headers, self._closing)
        self._opening = threading.Lock()
        self._held: set[Transition] = set()
        self._streams: set[_Stream] = set()
        self._http = httpx.Client(
            base_url=address.base, transport=httpx.HTTPTransport(**_transport.options(address, verify)))

    def scene(self, name: str = "main") -> Scene:
        """A scene by its name; nothing is asked."""
        return Scene(self, name)

    def events(self, *, since: str | None = None, attached: bool = False) -> Iterator[Event]:
        """What happens in all scenes, from now on or after the event `since`; see `Scene.events`."""
        return self._events(self._stream("/events", since, attached))

    def ready(self, id: str) -> Document:
        """Says that this client, by its name, is ready for a transition in which it takes part, and returns that.

        Raises `Refused`, for example with ``too-late``, or `Unreachable`.
        """
        self._open()
        return self._run(self._flows.ready(id))

    def close(self) -> None:
        """Ends the session, and with it what is still held: that is lost at once. Streams end.

        Calls that still wait raise `Closed`, and so do all later ones.
        """
        if self._closing.is_set():
            return
        self._closing.set()
        held = list(self._held)
        for transition in held:
            transition._lose_session()
        for stream in list(self._streams):
            stream.end()
        try:
            self._run(self._flows.end_session())
        except ArbiterError:
            pass  # Without a word, it ends by itself.
        deadline = time.monotonic() + MARGIN
        for transition in held:
            if transition._keeper.is_alive():
                # Its await is answered by the end of the session.
                transition._keeper.join(max(0.0, deadline - time.monotonic()))
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
        sent = now()
        try:
            response = self._http.request(**_transport.request(send))
        except httpx.TransportError as error:
            raise Unreachable(f"{send.method} {send.path}: {error}") from error
        except RuntimeError:
            self._flows.check_open()  # httpx refuses to send after its end.
            raise
        return _transport.answer(response, sent)

    def _run(self, flow: Flow[Result], over: threading.Event | None = None) -> Result:
        over = over or self._closing
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
                    over.wait(step.seconds)
                    step = next(flow)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]
        finally:
            flow.close()  # It learns that it was left.

    def _stream(self, path: str, since: str | None, attached: bool = False) -> _Stream:
        self._flows.check_open()
        return _Stream(path, since, attached, threading.Event())

    def _events(self, stream: _Stream) -> Iterator[Event]:
        self._streams.add(stream)
        try:
            while not (stream.over.is_set() or self._flows.is_closed):
                try:
                    session = self._open() if stream.attached else None
                    headers = {**self._flows.headers, **stream.headers(session)}
                    with self._http.stream(
                        "GET", stream.path, headers=headers, timeout=_transport.STREAM_TIMEOUT
                    ) as response:
                        stream.opened(response)
                        if response.status_code == 200:
                            for chunk in response.iter_bytes():
                                yield from stream.take(chunk)
                        else:
                            response.read()
                            self._flows.refuse_stream(_transport.answer(response, 0), session)
                except (httpx.TransportError, Unreachable):
                    pass  # A stream that is cut is resumed.
                except (Closed, RuntimeError):
                    if not self._flows.is_closed:
                        raise
                stream.over.wait(stream.delay())
        finally:
            self._streams.discard(stream)


class _Stream(EventStream[threading.Event]):
    """A stream that another thread may end."""

    _socket: Any = None

    def opened(self, response: httpx.Response) -> None:
        self._socket = response.extensions["network_stream"].get_extra_info("socket")
        if self.over.is_set():
            self.end()

    def end(self) -> None:
        """Ends it, also while its next event is waited for."""
        self.over.set()
        if self._socket is not None:
            with suppress(OSError):  # It is closed already.
                self._socket.shutdown(socket.SHUT_RDWR)


class Scene:
    """One arbitrated interface."""

    def __init__(self, arbiter: Arbiter, name: str) -> None:
        self.arbiter = arbiter
        self.name = name

    def start(self, **options: Unpack[TransitionOptions]) -> Transition | None:
        """Tries at once.

        Returns the transition, or `None` if another one is in the way: then the event is dropped. Raises `Refused` if what
        it asks for is impossible, `TransitionEnded` if it ended before it ran, `Unreachable`.
        """
        ticket = Ticket(self.name, options)
        with self._giving_up(ticket):
            self.arbiter._open()
            document = self.arbiter._run(self.arbiter._flows.start(ticket))
        return None if document is None else Transition(self.arbiter, ticket)

    def serialize(
        self, *, timeout: float | None = None, waiting: Callable[[Document], None] | None = None,
        **options: Unpack[TransitionOptions],
    ) -> Transition:
        """Waits for its turn, strictly first come, first served, at most `timeout` seconds.

        `waiting` is called with the ticket whenever the daemon says that it still waits, at least every 30 seconds: its
        ``state``, and while that is ``queued`` its ``position`` and ``blockers``. An error that it raises gives the ticket up.

        Returns the transition, which runs, or has ended with `noop` if there was nothing to do. Raises `TimedOut`,
        `TransitionEnded` if it is impossible when its turn comes, `Refused` if it cannot even queue, `Unreachable`.
        """
        ticket = Ticket(self.name, options)
        with self._giving_up(ticket):
            self.arbiter._open()
            if self.arbiter._run(self.arbiter._flows.serialize(ticket, timeout, waiting)) is None:
                raise TimedOut(f"The turn in {self.name} did not come within {timeout} s")
        return Transition(self.arbiter, ticket)

    @contextmanager
    def transition(
        self, *, timeout: float | None = None, waiting: Callable[[Document], None] | None = None,
        **options: Unpack[TransitionOptions],
    ) -> Iterator[Transition]:
        """Waits for its turn, as `serialize` does, and holds it while the body runs.

        `with scene.transition() as transition: …`

        It is completed at the end of the body, and cancelled if the body raises; one whose gesture was decided ends as that
        was, and one that the body has ended is left alone. If it was lost meanwhile, the body is told by `transition.lost`,
        and `TransitionEnded` is raised at its end.
        """
        transition = self.serialize(timeout=timeout, waiting=waiting, **options)
        try:
            yield transition
        except BaseException:
            try:
                transition._end_after_body(failed=True)
            except ArbiterError:
                pass  # What the body raised is what the caller has to know.
            raise
        transition._end_after_body(failed=False)

    def declare(self, storyboard: Mapping[str, Any], *, if_undeclared: bool = False) -> Document | None:
        """Declares the hierarchy, segues, transition types and defaults.

        With `if_undeclared` only if nobody has, so that one of several processes that start together does it; for the
        others the answer is `None`. Raises `Refused`, for example with ``busy`` while a transition is unfinished, or
        `Unreachable`. It is sent again if its answer is lost: then it may be `None` for the one that did it too, and may
        replace what others have changed in between.
        """
        return self.arbiter._run(self.arbiter._flows.declare(self.name, storyboard, if_undeclared))

    def read(self) -> Document:
        """Its hierarchy, who runs and who waits.

        Raises `Refused`, for example with ``unknown-scene``, or `Unreachable`.
        """
        return self.arbiter._run(self.arbiter._flows.read(self.name))

    def hierarchy(self) -> Hierarchy:
        """Its hierarchy, kept by events: `with scene.hierarchy() as hierarchy: …`."""
        return Hierarchy(self.arbiter, self.name)

    def events(self, *, since: str | None = None, attached: bool = False) -> Iterator[Event]:
        """What happens here, from now on or after the event `since`, until the iteration is left.

        A stream that is cut is resumed without a gap. Where the past is gone, a ``reset`` has the scene as it is. A stream
        that is `attached` keeps the session alive: a client that takes part in the transitions of others has one. Raises
        `Refused` if it is refused for good, and `ValueError` at once if `since` cannot be an id.
        """
        arbiter = self.arbiter
        return arbiter._events(arbiter._stream(Flows.scene_path(self.name, "/events"), since, attached))

    @contextmanager
    def _giving_up(self, ticket: Ticket) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            if ticket.may_wait_after(error):
                try:
                    self.arbiter._run(self.arbiter._flows.give_up(ticket))
                except ArbiterError:
                    pass  # The ticket ends with the session.
            raise


class Transition(HeldTransition[threading.Event]):
    """A transition that this client holds, until it ends it."""

    def __init__(self, arbiter: Arbiter, ticket: Ticket) -> None:
        super().__init__(ticket, threading.Event(), threading.Event())
        self._arbiter = arbiter
        if self.ended is None:
            self._keeper = threading.Thread(target=self._keep, name=f"transition {self.id}", daemon=True)
            arbiter._held.add(self)
            self._keeper.start()
            if arbiter._flows.is_closed:
                self._lose_session()

    def complete(self) -> Document:
        """Ends it, and applies its operation: the transition, with what was inserted and removed.

        Raises `TransitionEnded` if it has ended without its owner, `Refused` if its gesture was decided otherwise, or
        `Unreachable`.
        """
        return self._end("completed")

    def cancel(self) -> Document:
        """Ends it without applying its operation. Raises what `complete` raises."""
        return self._end("cancelled")

    def progress(self, fraction: float, *, velocity: float | None = None, sequence: int | None = None) -> Document:
        """Where the finger is, of an interactive transition: the answer says whether it was applied.

        `fraction` is from 0 to 1, `velocity` fractions a second. Of numbered positions, in `sequence`, a late one does not
        replace a newer one. Raises `Refused` or `Unreachable`.
        """
        fields = {"fraction": fraction, "velocity": velocity, "sequence": sequence}
        return self._arbiter._run(self._arbiter._flows.drive(self._ticket, "progress", fields))

    def release(
        self, *, decision: str | None = None, fraction: float | None = None, velocity: float | None = None,
        cancelled: bool | None = None, completion_speed: float | None = None,
    ) -> Document:
        """The finger has left: decides, once, whether an interactive transition will finish or cancel.

        `decision` is ``finish`` or ``cancel``; without it, the transition's policy decides, by the last `fraction` and
        `velocity` or those given here. The answer has the decision, and in ``remaining`` how many seconds the rest of the
        animation takes, which `completion_speed` divides. Raises `Refused` or `Unreachable`.
        """
        fields = {
            "decision": decision, "fraction": fraction, "velocity": velocity, "cancelled": cancelled,
            "completion_speed": completion_speed,
        }
        released = self._arbiter._run(self._arbiter._flows.drive(self._ticket, "release", fields))
        self._is_decided = True
        return released

    def _end_after_body(self, *, failed: bool) -> None:
        """Ends it, unless its owner has done so."""
        if not self._is_ended_by_owner:
            self._end(self._outcome_after_body(failed))

    def _end(self, outcome: str | None) -> Document:
        if self.noop:
            return self.document
        document = self._arbiter._run(self._ending(self._arbiter._flows, outcome))
        # Its await is answered by the end, so that no connection is cut.
        self._keeper.join(MARGIN)
        return document

    def _keep(self) -> None:
        try:
            self._lose(self._arbiter._run(self._arbiter._flows.keep(self._ticket, self._is_over.is_set), self._is_over))
        except Closed:
            pass  # It has been lost with the session.
        finally:
            self._arbiter._held.discard(self)
