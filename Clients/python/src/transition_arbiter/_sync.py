"""The client for programs without `asyncio`."""

from __future__ import annotations

import socket
import ssl
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import AbstractContextManager, suppress
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Literal, Generic, Self, TypeVar, Unpack

import httpx

from . import _bodies, _transport
from ._events import Event, EventStream
from ._flows import Condition, Flows, Operations, Ticket, TransitionOptions, TransitionState, checked_timeout
from ._held import HeldTransition
from ._lines import Lines
from ._sync_gestures import InteractiveTransition
from ._sync_hierarchy import Hierarchy
from ._wire import MARGIN, Answer, Document, Flow, Result, Send, checked_seconds, now
from .errors import ArbiterError, Closed, Refused, Unreachable


class Arbiter:
    """A connection to `arbiterd`. Threads may share it.

    `url` is ``http://…``, ``https://…`` or ``unix:/path``; without it, the environment's ``ARBITER_URL``, or
    ``http://127.0.0.1:8080``. `token` is a bearer token, `client` the name by which people see this program, `patience` how
    many seconds a request is repeated while the daemon cannot be reached or is starting, and `verify` a context with the
    certificates that are trusted. `headers` are sent with every request, for example ``traceparent``. Raises `ValueError` for
    another kind of URL, and for a token or a header field that cannot be sent; `TypeError` or `ValueError` for a patience that
    is no finite number of seconds, 0 or more.

    All transitions of one `Arbiter` are bound to one session: if this process dies, they end within two seconds; in the
    moment between the grant and the first parked request, and where a proxy or a forked child keeps its connections, when the
    lease has run out. A grant that it has waited for ends after five seconds, if it dies before it has heard of it.
    """

    def __init__(
        self, url: str | None = None, *, token: str | None = None, client: str | None = None, patience: float = 30.0,
        verify: ssl.SSLContext | bool = True, headers: Mapping[str, str] | None = None,
    ) -> None:
        self._address = address = _transport.Address.of(url)
        self._closing = threading.Event()
        self._flows = Flows(client, token, patience, headers, self._closing)
        self._opening = threading.Lock()
        self._keepers: set[_Keeper] = set()
        self._aside = _Aside()
        self._streams: set[_Stream] = set()
        self._lines = Lines(_transport.maker(httpx.HTTPTransport, address, verify))

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

    def veto(self, id: str, *, reason: str | None = None) -> Document:
        """Says that a transition in which this client takes part must not run; only one that may veto is heard.

        Returns the transition, which has ended as ``rejected`` with the reason ``vetoed``. Raises `Refused`, for example with
        ``too-late`` or ``forbidden``, or `Unreachable`.
        """
        self._open()
        return self._run(self._flows.veto(id, reason))

    def read(self, id: str) -> Document:
        """A transition by its id, also one of others, and one that has ended a while ago.

        Raises `Refused`, for example with ``unknown-transition``, or `Unreachable`.
        """
        return self._run(self._flows.transition(id))

    def transitions(
        self, *, scene: str | None = None, state: TransitionState | None = None,
        client: str | None = None, limit: int = 100,
    ) -> list[Document]:
        """The newest transitions of these, `limit` at most, oldest first; each is a summary. Raises `Refused` or `Unreachable`."""
        return self._run(self._flows.transitions(limit, {"scene": scene, "state": state, "client": client}))

    def scenes(self) -> list[Document]:
        """All scenes, by their names: how many transitions run and wait in each. Raises `Refused` or `Unreachable`."""
        return self._run(self._flows.scenes())

    def revoke(self, id: str, *, reason: str) -> Document:
        """Takes a transition from its owner, or a ticket out of the queue: the transition.

        An administrator takes any, others those of their own principal.

        Raises `Refused`, for example with ``already-ended``, or `Unreachable`.
        """
        return self._run(self._flows.revoke(id, reason))

    def close(self) -> None:
        """Ends the session, and with it what is still held: that is lost at once. Streams end.

        Calls that still wait raise `Closed`, and so do all later ones.
        """
        self._flows.check_process()
        if self._closing.is_set():
            return
        self._closing.set()
        keepers = list(self._keepers)
        for keeper in keepers:
            keeper.lose_session()
        for stream in list(self._streams):
            stream.end()
        try:
            self._run(self._flows.end_session())
        except ArbiterError:
            pass  # Without a word, it ends by itself.
        deadline = time.monotonic() + MARGIN
        for keeper in keepers:
            if keeper.is_alive():
                # Its await is answered by the end of the session.
                keeper.join(max(0.0, deadline - time.monotonic()))
        self._aside.close()
        self._lines.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # A forked child that leaves by an error, or by `sys.exit`, is not told of another one.
        if kind is None or not self._flows.is_forked:
            self.close()

    # Driving flows

    def _open(self) -> str:
        """The token of the session, which is opened by one caller if there is none."""
        self._flows.check_process()
        called = now()
        with self._opening:
            return self._run(self._flows.session(called))

    def _send(self, send: Send) -> Answer:
        # Only the main thread is interrupted.
        is_main = threading.current_thread() is threading.main_thread()
        return self._aside.run(lambda: self._exchange(send)) if is_main else self._exchange(send)

    def _exchange(self, send: Send) -> Answer:
        sent = now()
        try:
            response = self._lines.ask(_transport.request(self._address, send))
            return _transport.answer(response, sent)
        except (httpx.TransportError, Unreachable) as error:
            raise _transport.unreachable(self._address, send, error) from None
        except RuntimeError:
            self._flows.check_open()  # Nothing is sent after the end.
            raise

    def _run(self, flow: Flow[Result], over: threading.Event | _Latch | None = None) -> Result:
        self._flows.check_process()
        over = self._closing if over is None else over
        try:
            step = next(flow)
            while True:
                if isinstance(step, Send):
                    try:
                        answer = self._send(step)
                    except (Unreachable, Refused) as error:
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
        stream = _Stream(path, since, attached, threading.Event(), self._flows.patience)
        stream.when_unheard = self._flows.unheard
        return stream

    def _events(self, stream: _Stream) -> Iterator[Event]:
        self._streams.add(stream)
        try:
            while not (stream.over.is_set() or self._flows.is_closed):
                stream.begin()
                try:
                    session = self._open() if stream.attached else None
                    headers = {**self._flows.headers, **stream.headers(session)}
                    request = _transport.stream_request(self._address, stream.path, headers, stream.head_silence)
                    with self._lines.follow(request) as response:
                        stream.opened(response)
                        if response.status_code == 200:
                            stream.check(response.headers)
                            _transport.limit_silence(request, stream.silence(response.headers))
                            for chunk in response.iter_bytes():
                                yield from stream.take(chunk)
                                self._flows.check_process()
                        else:
                            response.read()
                            self._flows.refuse_stream(_transport.answer(response, 0), session)
                    failure = None
                except (httpx.RequestError, Unreachable) as error:
                    failure = _transport.stream_error(self._address, stream.path, error)
                except (Closed, RuntimeError):
                    if self._flows.is_forked or not self._flows.is_closed:
                        raise
                    return
                stream.cut(failure)
                stream.over.wait(stream.delay())
        finally:
            self._streams.discard(stream)


class _Latch:
    """A flag for which one thread waits.

    Unlike `threading.Event` it leaves no lock behind, which others would wait for, if an interrupt comes while it is set.
    """

    def __init__(self) -> None:
        self._is_set = False
        self._latch = threading.Lock()
        self._latch.acquire()

    def is_set(self) -> bool:
        return self._is_set

    def set(self) -> None:
        self._is_set = True
        with suppress(RuntimeError):  # It is open already.
            self._latch.release()

    def wait(self, seconds: float) -> None:
        """Waits until it is set, or so many seconds; only ever one thread may do so."""
        if not self._is_set:
            self._latch.acquire(timeout=seconds)


class _Aside:
    """Makes calls in other threads, for whose answers the main thread waits.

    An interrupt in the middle of httpcore would leave locks behind, for which all other requests would wait for ever.
    """

    def __init__(self) -> None:
        self._idle: list[_Jobs] = []

    def run(self, call: Callable[[], Answer]) -> Answer:
        """Returns what the call returns, or raises what it raises. If it is interrupted, the call goes on unheard."""
        try:
            jobs = self._idle.pop()
        except IndexError:
            jobs = SimpleQueue()
            threading.Thread(target=self._work, args=[jobs], name="requests of arbiter", daemon=True).start()
        answers: SimpleQueue[Answer | Exception] = SimpleQueue()
        jobs.put((call, answers))
        answer = answers.get()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self) -> None:
        """Ends the threads that have nothing to do."""
        with suppress(IndexError):
            while True:
                self._idle.pop().put(None)

    def _work(self, jobs: _Jobs) -> None:
        while (job := jobs.get()) is not None:
            call, answers = job
            answer: Answer | Exception
            try:
                answer = call()
            except Exception as error:
                answer = error
            self._idle.append(jobs)
            answers.put(answer)
            del job, call, answers, answer  # They are not kept until the next one comes.


_Jobs = SimpleQueue[tuple[Callable[[], Answer], SimpleQueue[Answer | Exception]] | None]


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

        Returns the transition, or `None` if another one is in the way: then the event is dropped. If there was nothing to do,
        it has ended with `noop`: it has no lock and no `fence`. Raises `Refused` if what it asks for is impossible,
        `TransitionEnded` if it ended before it ran, `Unreachable`; `TypeError` or `ValueError` for what can never be sent.

        The caller has to end it. Use `try_transition` where an error or a `KeyboardInterrupt` may come before that.
        """
        ticket = Ticket(self.name, options)
        return self._held(ticket, self.arbiter._flows.start(ticket))

    def serialize(
        self, *, timeout: float | None = None, waiting: Callable[[Document], None] | None = None,
        wait_for_self: bool = False, **options: Unpack[TransitionOptions],
    ) -> Transition:
        """Waits for its turn, first come, first served among equal priorities, at most `timeout` seconds.

        `waiting` is called with the ticket whenever the daemon says that it still waits, at least every 10 seconds: its
        ``state``, and while that is ``queued`` its ``position`` and ``blockers``. An error that it raises gives the ticket up.

        Returns the transition, which runs, or has ended with `noop` if there was nothing to do: then it has no lock and no
        `fence`. Raises `TimedOut`, `TransitionEnded` if it is impossible when its turn comes, `Refused` if it cannot even
        queue, `Unreachable`; `TypeError` or `ValueError` for what can never be sent. In the body of a transition that is in
        its way it would wait for ever: then it raises `BlockedBySelf`, unless `wait_for_self` says that this code is not what
        that body waits for.

        The caller has to end it. Use `transition` where a `KeyboardInterrupt` may come before that.
        """
        checked_timeout(timeout)
        ticket = Ticket(self.name, options)
        return self._turn(ticket, timeout, waiting, wait_for_self)

    def transition(
        self, *, timeout: float | None = None, waiting: Callable[[Document], None] | None = None,
        wait_for_self: bool = False, **options: Unpack[TransitionOptions],
    ) -> AbstractContextManager[Transition]:
        """Waits for its turn, as `serialize` does, and holds it while the body runs.

        `with scene.transition() as transition: …`

        It is completed at the end of the body, and cancelled if the body raises; one whose gesture was decided ends as that
        was, and one that the body has ended is left alone. If it was lost meanwhile, the body is told by `transition.lost`,
        and `TransitionEnded` is raised at its end.

        If its operation has nothing to do, the body runs all the same, without a lock: `transition.noop` is true, and
        `transition.fence` is `None`.

        A `KeyboardInterrupt`, wherever it comes, does not leave it held: it is ended at once, or once the exception has been
        handled, at the latest when a lease and a sixth of one are over.
        """
        checked_timeout(timeout)
        ticket = Ticket(self.name, options)
        return _Turn(self, ticket, lambda: self._turn(ticket, timeout, waiting, wait_for_self))

    def try_transition(self, **options: Unpack[TransitionOptions]) -> AbstractContextManager[Transition | None]:
        """Tries at once, as `start` does, and holds it while the body runs.

        `with scene.try_transition() as transition: …`

        If another one is in the way, the body runs with `None`. Otherwise it ends as that of `transition` does.
        """
        ticket = Ticket(self.name, options)
        return _Turn(self, ticket, lambda: self._held(ticket, self.arbiter._flows.start(ticket)))

    def start_interactive(self, **options: Unpack[TransitionOptions]) -> InteractiveTransition | None:
        """Tries at once to begin a transition that a finger drives.

        Returns it, or `None` if another one is in the way. Raises what `start` raises.
        """
        options["interactive"] = True
        transition = self.start(**options)
        if transition is None:
            return None
        asked: Future[None] = Future()
        turn: Future[Transition] = Future()
        asked.set_result(None)
        turn.set_result(transition)
        return self._gesture(transition._ticket, asked, turn)

    def serialize_interactive(
        self, *, timeout: float | None = None, waiting: Callable[[Document], None] | None = None,
        **options: Unpack[TransitionOptions],
    ) -> InteractiveTransition:
        """Asks for the turn of a transition that a finger drives, and does not wait for it.

        What goes wrong is raised by what is asked of the gesture then. `TypeError` or `ValueError` for what can never be sent.
        """
        checked_timeout(timeout)
        options["interactive"] = True
        ticket = Ticket(self.name, options)
        asked: Future[None] = Future()
        turn: Future[Transition] = Future()

        def told(shown: Document) -> None:
            if not asked.done():
                asked.set_result(None)
            if waiting is not None:
                waiting(shown)

        def take() -> None:
            try:
                transition = self._turn(ticket, timeout, told, True)
            except BaseException as error:
                turn.set_exception(error)
                if not asked.done():
                    asked.set_exception(error)
            else:
                turn.set_result(transition)
                if not asked.done():
                    asked.set_result(None)

        threading.Thread(target=take, name="turn of arbiter", daemon=True).start()
        return self._gesture(ticket, asked, turn)

    def _gesture(self, ticket: Ticket, asked: Future[None], turn: Future[Transition]) -> InteractiveTransition:
        return InteractiveTransition(self.arbiter, ticket, asked, turn, lambda: _Turn(self, ticket, turn.result))

    def declare(
        self, storyboard: Mapping[str, Any], *, if_undeclared: bool = False, dry_run: bool = False
    ) -> Document | None:
        """Declares the hierarchy, segues, transition types and defaults.

        With `if_undeclared` only if nobody has, so that one of several processes that start together does it; for the
        others the answer is `None`. Raises `Refused`, for example with ``busy`` while a transition is unfinished, or
        `Unreachable`. It is sent again if its answer is lost: then it may be `None` for the one that did it too, and may
        replace what others have changed in between. A `dry_run` changes nothing, and returns the whole storyboard.
        """
        return self.arbiter._run(self.arbiter._flows.declare(self.name, storyboard, if_undeclared, dry_run))

    def patch_storyboard(self, changes: Mapping[str, Any]) -> Document:
        """Adds, replaces and removes segues, transition types and defaults, also while transitions run.

        `None` removes an entry. Raises `Refused`, for example with ``in-use``, or `Unreachable`.
        """
        return self.arbiter._run(self.arbiter._flows.patch_storyboard(self.name, changes))

    def revoke(self, *, reason: str, client: str | None = None) -> list[str]:
        """Takes all unfinished transitions here, or those of a client, from their owners, in one step: their ids.

        An administrator takes everybody's, others those of their own principal. It is sent once: after `Unreachable` it
        may have happened. Raises `Refused` or `Unreachable`.
        """
        return self.arbiter._run(self.arbiter._flows.revoke_all(self.name, reason, client))

    def add_guard(
        self, controllers: Iterable[str], *, on_silence: Literal["proceed", "abort"] = "proceed"
    ) -> Document:
        """Asks to be asked before these controllers, or any above them, are removed, until the session of this client ends.

        `controllers` are ids; there may be none of them yet. Then ``transition.preparing`` names this client among the `participants`,
        with the ``guard``: answer with `Arbiter.ready` or `Arbiter.veto` within two seconds. Otherwise `on_silence` counts: the
        transition runs, or expires. A stream of events with `attached` keeps the session alive. The same call again
        returns the same guard. Returns the guard, with its ``id``. Raises `Refused`, for example with ``queue-full``, or `Unreachable`.
        """
        self.arbiter._open()
        return self.arbiter._run(self.arbiter._flows.add_guard(self.name, controllers, on_silence))

    def remove_guard(self, id: str) -> None:
        """Takes a guard back; nothing if it has ended. Raises `Refused` or `Unreachable`."""
        self.arbiter._open()
        self.arbiter._run(self.arbiter._flows.remove_guard(self.name, id))

    def dry_run(
        self, call: Literal["start", "serialize"], **options: Unpack[TransitionOptions]
    ) -> Document:
        """What would come of `start`, or of `serialize`, now: ``wouldRun``, ``blockers``, what comes and goes. Nothing changes.

        Raises what would be refused as `Refused`, or `Unreachable`.
        """
        return self.arbiter._run(self.arbiter._flows.dry_run(self.name, call, options))

    def until_idle(
        self, *, controller: str | None = None, quiet: float = 0.0, timeout: float | None = None
    ) -> Document:
        """Waits until nothing here, or below a controller, is unfinished, and has not been for `quiet` seconds.

        Returns how it is. Raises `TimedOut`, `Refused` or `Unreachable`.
        """
        checked_seconds("quiet", quiet)
        checked_timeout(timeout)
        return self.arbiter._run(self.arbiter._flows.until_idle(self.name, controller, quiet, timeout))

    def until_controller(
        self, id: str, *, is_: Condition | None = None, not_: Condition | None = None, timeout: float | None = None
    ) -> Document:
        """Waits until a controller is so (`is_`), or is not so any more (`not_`); it need not exist.

        Returns ``holds``, and the ``controller``, if it exists. It is no lock. Raises `TimedOut`, `Refused` or `Unreachable`.
        """
        checked_timeout(timeout)
        return self.arbiter._run(self.arbiter._flows.until_controller(self.name, id, is_, not_, timeout))

    def controller(self, id: str) -> Document:
        """One controller, with its path, its conditions, and the transitions that lock it.

        Raises `Refused`, for example with ``unknown-controller``, or `Unreachable`.
        """
        return self.arbiter._run(self.arbiter._flows.controller(self.name, id))

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
        `Refused` if it is refused for good, `Unreachable` if it does not open for the first time within the patience of the client,
        and `ValueError` at once if `since` cannot be an id.
        """
        arbiter = self.arbiter
        return arbiter._events(arbiter._stream(Flows.scene_path(self.name, "/events"), since, attached))

    def _turn(
        self, ticket: Ticket, timeout: float | None, waiting: Callable[[Document], None] | None, wait_for_self: bool
    ) -> Transition:
        transition = self._held(ticket, self.arbiter._flows.serialize(ticket, timeout, waiting, wait_for_self))
        assert transition is not None
        return transition

    def _held(self, ticket: Ticket, flow: Flow[Document | None]) -> Transition | None:
        """The transition that the flow grants, or `None`. Wherever an error comes from, the ticket is given up."""
        # No context manager gives up, because an interrupt may come between its methods and what they surround.
        try:
            self.arbiter._open()
            if self.arbiter._run(flow) is None:
                return None
            return Transition(self.arbiter, ticket)
        except BaseException as error:
            # First, because another interrupt may come: its keeper ends it, if there is one already.
            ticket.is_given_up = True
            if ticket.may_wait_after(error):
                self._give_up(ticket)
            raise

    def _give_up(self, ticket: Ticket) -> None:
        try:
            self.arbiter._run(self.arbiter._flows.give_up(ticket))
        except ArbiterError:
            pass  # The ticket ends with the session.


Held = TypeVar("Held", bound="Transition | None")


class _Turn(AbstractContextManager[Held], Generic[Held]):
    """Holds a transition while the body of a `with` statement runs, or none if there is none to hold."""

    _is_left = True
    """Whether all has been done that the end of the body asks for; also before there is anything to do."""

    def __init__(self, scene: Scene, ticket: Ticket, take: Callable[[], Held]) -> None:
        self._scene = scene
        self._ticket = ticket
        self._take: Callable[[], Held] | None = take
        self._transition: Transition | None = None
        self._is_left = False

    def __enter__(self) -> Held:
        if self._take is None:
            raise RuntimeError("It has been entered before; make another one")
        take, self._take = self._take, None
        self._transition = transition = take()
        if transition is not None:
            _bodies.enter(transition.id)
        return transition

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._transition is not None:
                self._transition._end_after_body(failed=kind is not None)
        except ArbiterError:
            # What the body raised is what the caller has to know.
            if kind is None:
                raise
        except BaseException:
            if self._scene.arbiter._flows.is_forked:
                if kind is None:
                    raise
                return
            self._ticket.is_given_up = True
            self._scene._give_up(self._ticket)
            raise
        finally:
            self._is_left = True
            if self._transition is not None:
                _bodies.leave(self._transition.id)

    def __del__(self) -> None:
        # An interrupt may come between these methods and the body. No more than this is safe here: its keeper does the rest.
        if not self._is_left:
            self._ticket.is_given_up = True
            if self._transition is not None:
                _bodies.leave(self._transition.id)  # Else the next turn here would be taken for one of its body.


class Transition(HeldTransition[threading.Event]):
    """A transition that this client holds, until it ends it. One that is collected before is given back, with a warning."""

    def __init__(self, arbiter: Arbiter, ticket: Ticket) -> None:
        over = _Latch()
        super().__init__(arbiter._flows, ticket, threading.Event(), threading.Event(), over)
        self._arbiter = arbiter
        # An interrupt may come anywhere here, also when the keeper runs already: then `Scene._held` gives the ticket up.
        if self.ended is None:
            self._keeper = _Keeper(self, over)
            arbiter._keepers.add(self._keeper)
            self._keeper.start()
            if arbiter._flows.is_closed:
                self._lose_session()

    def perform(
        self, operation: Operations, *, expect: Mapping[str, Any] | list[Mapping[str, Any]] | None = None,
        animated: bool = True, ignore_guards: bool = False,
    ) -> Document:
        """Gives it the operation, or the list of them, that it was begun without; it is applied when it completes.

        Returns the transition, with what the operation will have ``inserted`` and ``removed``, or with ``noop`` if it would
        change nothing; then another one may follow. `expect` is what must hold now. If it is not `animated`, the `duration` is
        0 from now on. Raises `Refused` if the operation is not possible now, with ``already-performed`` if it has another one,
        with ``outside-scope`` and, unless it is to `ignore_guards`, with ``guarded``; `TransitionEnded` if it has ended, or `Unreachable`.
        """
        return self._arbiter._run(self._performing(operation, expect, animated, ignore_guards))

    def update(self, animation: Mapping[str, Any]) -> Document:
        """Changes the `duration`, `curve`, `completionSpeed` or `userInfo` of its animation. Raises what `complete` raises."""
        return self._arbiter._run(self._flows.update(self._ticket, animation))

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

        `fraction` is from 0 to 1, `velocity` fractions a second. A late position is no error. `sequence`, a number that grows, is for
        positions that do not come here in their order. Raises `Refused` or `Unreachable`; `TypeError` or `ValueError` for what is no
        finite number.
        """
        if not self._ticket.finger.move(fraction, velocity, sequence):
            return self._ticket.ignored
        return self._arbiter._run(self._arbiter._flows.move(self._ticket))

    def release(
        self, *, decision: Literal["finish", "cancel"] | None = None, fraction: float | None = None, velocity: float | None = None,
        cancelled: bool | None = None, completion_speed: float | None = None,
    ) -> Document:
        """The finger has left: decides, once, whether an interactive transition will finish or cancel.

        `decision` is ``finish`` or ``cancel``; without it, the transition's policy decides, by the newest `fraction` and
        `velocity` or those given here. The answer has the decision, and in ``remaining`` how many seconds the rest of the
        animation takes, which `completion_speed` divides. Raises `Refused` or `Unreachable`.
        """
        given = {
            "decision": decision, "fraction": fraction, "velocity": velocity, "cancelled": cancelled,
            "completion_speed": completion_speed,
        }
        return self._arbiter._run(self._arbiter._flows.release(self._ticket, given))

    def _end_after_body(self, *, failed: bool) -> None:
        """Ends it, unless its owner has done so."""
        if not self._is_ended_by_owner:
            try:
                self._end(self._outcome_after_body(failed))
            except Refused:
                self._ticket.is_given_up = True  # It would go on, but nobody holds it any more.
                raise

    def _end(self, outcome: str | None) -> Document:
        if self.noop:
            return self.document
        document = self._arbiter._run(self._ending(outcome))
        # Its await is answered by the end, so that no connection is cut.
        self._keeper.join(MARGIN)
        return document


class _Keeper(threading.Thread):
    """Keeps a transition, until that has ended or nobody refers to it any more."""

    def __init__(self, transition: Transition, over: _Latch) -> None:
        super().__init__(name=f"transition {transition.id}", daemon=True)
        self._transition = weakref.ref(transition)
        self._arbiter = transition._arbiter
        self._ticket = transition._ticket
        self._lost, self._interrupted = transition.lost, transition.interrupted
        self._over = over

    def _interrupt(self, interruption: Document) -> None:
        if (transition := self._transition()) is not None:
            transition._interrupt(interruption)

    def lose_session(self) -> None:
        if (transition := self._transition()) is not None:
            transition._lose_session()

    def run(self) -> None:
        arbiter = self._arbiter
        try:
            ended = arbiter._run(arbiter._flows.keep(self._ticket, self._over.is_set, self._interrupt), self._over)
        except Closed:
            return  # It has been lost with the session.
        finally:
            arbiter._keepers.discard(self)
        if (transition := self._transition()) is not None:
            transition._lose(ended)
        else:
            self._lost.set()
            self._interrupted.set()
