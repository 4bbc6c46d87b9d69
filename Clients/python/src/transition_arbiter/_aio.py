"""The client for programs with `asyncio`."""

from __future__ import annotations

import asyncio
import ssl
import weakref
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Literal, Self, Unpack

import httpx

from . import _bodies, _transport
from ._aio_gestures import AsyncInteractiveTransition
from ._aio_hierarchy import AsyncHierarchy
from ._events import Event, EventStream
from ._flows import Condition, Flows, Operations, Ticket, TransitionOptions, TransitionState, checked_timeout
from ._held import HeldTransition
from ._lines import AsyncLines
from ._wire import MARGIN, Answer, Document, Flow, Result, Send, checked_seconds, now
from .errors import ArbiterError, Closed, Refused, Unreachable


class AsyncArbiter:
    """The same as `Arbiter`, for `asyncio`; tasks of one event loop may share it."""

    def __init__(
        self, url: str | None = None, *, token: str | None = None, client: str | None = None, patience: float = 30.0,
        verify: ssl.SSLContext | bool = True, headers: Mapping[str, str] | None = None,
    ) -> None:
        self._address = address = _transport.Address.of(url)
        self._closing = asyncio.Event()
        self._flows = Flows(client, token, patience, headers, self._closing)
        self._opening = asyncio.Lock()
        self._keepers: set[_Keeper] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._streams: set[EventStream[asyncio.Event]] = set()
        self._lines = AsyncLines(_transport.maker(httpx.AsyncHTTPTransport, address, verify))

    def scene(self, name: str = "main") -> AsyncScene:
        """A scene by its name; nothing is asked."""
        return AsyncScene(self, name)

    def events(self, *, since: str | None = None, attached: bool = False) -> AsyncIterator[Event]:
        """What happens in all scenes, from now on or after the event `since`; see `AsyncScene.events`."""
        return self._events(self._stream("/events", since, attached))

    async def ready(self, id: str) -> Document:
        """See `Arbiter.ready`."""
        await self._open()
        return await self._run(self._flows.ready(id))

    async def veto(self, id: str, *, reason: str | None = None) -> Document:
        """See `Arbiter.veto`."""
        await self._open()
        return await self._run(self._flows.veto(id, reason))

    async def read(self, id: str) -> Document:
        """See `Arbiter.read`."""
        return await self._run(self._flows.transition(id))

    async def transitions(
        self, *, scene: str | None = None, state: TransitionState | None = None,
        client: str | None = None, limit: int = 100,
    ) -> list[Document]:
        """See `Arbiter.transitions`."""
        return await self._run(self._flows.transitions(limit, {"scene": scene, "state": state, "client": client}))

    async def scenes(self) -> list[Document]:
        """See `Arbiter.scenes`."""
        return await self._run(self._flows.scenes())

    async def revoke(self, id: str, *, reason: str) -> Document:
        """See `Arbiter.revoke`."""
        return await self._run(self._flows.revoke(id, reason))

    async def aclose(self) -> None:
        """See `Arbiter.close`."""
        self._check_loop()
        if self._closing.is_set():
            return
        self._closing.set()
        keepers = list(self._keepers)
        for keeper in keepers:
            keeper.lose_session()
        for stream in self._streams:
            stream.over.set()
        try:
            await self._run(self._flows.end_session())
        except ArbiterError:
            pass  # Without a word, it ends by itself.
        if keepers:
            # Their awaits are answered by the end of the session.
            await asyncio.wait([keeper.task for keeper in keepers], timeout=MARGIN)
        await self._lines.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # A forked child that leaves by an error, or by `sys.exit`, is not told of another one.
        if kind is None or not self._flows.is_forked:
            await self.aclose()

    # Driving flows

    def _check_loop(self) -> None:
        """Raises `RuntimeError` in another event loop than the first, to which the connections belong, or another process."""
        self._flows.check_process()
        loop = asyncio.get_running_loop()
        self._loop = self._loop or loop
        if self._loop is not loop:
            raise RuntimeError("An AsyncArbiter belongs to the event loop that used it first: make another one for this loop")

    async def _open(self) -> str:
        """The token of the session, which is opened by one caller if there is none."""
        self._check_loop()
        called = now()
        async with self._opening:
            return await self._run(self._flows.session(called))

    async def _send(self, send: Send) -> Answer:
        sent = now()
        try:
            response = await self._lines.ask(_transport.request(self._address, send))
            return _transport.answer(response, sent)
        except (httpx.TransportError, Unreachable) as error:
            raise _transport.unreachable(self._address, send, error) from None
        except RuntimeError:
            self._flows.check_open()  # Nothing is sent after the end.
            raise

    async def _run(self, flow: Flow[Result], over: asyncio.Event | None = None) -> Result:
        self._check_loop()
        over = over or self._closing
        try:
            step = next(flow)
            while True:
                if isinstance(step, Send):
                    try:
                        answer = await self._send(step)
                    except (Unreachable, Refused) as error:
                        step = flow.throw(error)
                    else:
                        step = flow.send(answer)
                else:
                    await _passes(step.seconds, over)
                    step = next(flow)
        except StopIteration as stop:
            return stop.value  # type: ignore[no-any-return]
        finally:
            flow.close()  # It learns that it was left.

    def _stream(self, path: str, since: str | None, attached: bool = False) -> EventStream[asyncio.Event]:
        self._flows.check_open()
        stream = EventStream(path, since, attached, asyncio.Event(), self._flows.patience)
        stream.when_unheard = self._flows.unheard
        return stream

    async def _events(self, stream: EventStream[asyncio.Event]) -> AsyncGenerator[Event, None]:
        self._check_loop()
        self._streams.add(stream)
        try:
            while not (stream.over.is_set() or self._flows.is_closed):
                stream.begin()
                try:
                    session = await self._open() if stream.attached else None
                    headers = {**self._flows.headers, **stream.headers(session)}
                    request = _transport.stream_request(self._address, stream.path, headers, stream.head_silence)
                    async with self._lines.follow(request) as response:
                        if response.status_code == 200:
                            stream.check(response.headers)
                            _transport.limit_silence(request, stream.silence(response.headers))
                            async for chunk in response.aiter_bytes():
                                for event in stream.take(chunk):
                                    yield event
                                self._check_loop()
                        else:
                            await response.aread()
                            self._flows.refuse_stream(_transport.answer(response, 0), session)
                    failure = None
                except (httpx.RequestError, Unreachable) as error:
                    failure = _transport.stream_error(self._address, stream.path, error)
                except (Closed, RuntimeError):
                    if self._flows.is_forked or not self._flows.is_closed:
                        raise
                    return
                stream.cut(failure)
                await _passes(stream.delay(), stream.over)
        finally:
            self._streams.discard(stream)


async def _passes(seconds: float, over: asyncio.Event) -> None:
    """Passes so many seconds, or fewer if it is over."""
    try:
        await asyncio.wait_for(over.wait(), seconds)
    except TimeoutError:
        pass


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
        self, *, timeout: float | None = None, waiting: Callable[[Document], None] | None = None,
        wait_for_self: bool = False, **options: Unpack[TransitionOptions],
    ) -> AsyncTransition:
        """See `Scene.serialize`. A task that is cancelled gives its ticket up."""
        checked_timeout(timeout)
        ticket = Ticket(self.name, options)
        async with self._giving_up(ticket):
            await self.arbiter._open()
            await self.arbiter._run(self.arbiter._flows.serialize(ticket, timeout, waiting, wait_for_self))
        return AsyncTransition(self.arbiter, ticket)

    @asynccontextmanager
    async def transition(
        self, *, timeout: float | None = None, waiting: Callable[[Document], None] | None = None,
        wait_for_self: bool = False, **options: Unpack[TransitionOptions],
    ) -> AsyncIterator[AsyncTransition]:
        """See `Scene.transition`: `async with scene.transition() as transition: …`."""
        transition = await self.serialize(timeout=timeout, waiting=waiting, wait_for_self=wait_for_self, **options)
        async with transition._ended_after_body():
            yield transition

    @asynccontextmanager
    async def try_transition(self, **options: Unpack[TransitionOptions]) -> AsyncIterator[AsyncTransition | None]:
        """See `Scene.try_transition`: `async with scene.try_transition() as transition: …`."""
        transition = await self.start(**options)
        if transition is None:
            yield None
            return
        async with transition._ended_after_body():
            yield transition

    async def start_interactive(self, **options: Unpack[TransitionOptions]) -> AsyncInteractiveTransition | None:
        """See `Scene.start_interactive`."""
        options["interactive"] = True
        transition = await self.start(**options)
        if transition is None:
            return None
        loop = asyncio.get_running_loop()
        asked: asyncio.Future[None] = loop.create_future()
        turn: asyncio.Future[AsyncTransition] = loop.create_future()
        asked.set_result(None)
        turn.set_result(transition)
        return AsyncInteractiveTransition(self.arbiter, transition._ticket, asked, turn)

    def serialize_interactive(
        self, *, timeout: float | None = None, waiting: Callable[[Document], None] | None = None,
        **options: Unpack[TransitionOptions],
    ) -> AsyncInteractiveTransition:
        """See `Scene.serialize_interactive`."""
        checked_timeout(timeout)
        options["interactive"] = True
        ticket = Ticket(self.name, options)
        asked: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def told(shown: Document) -> None:
            if not asked.done():
                asked.set_result(None)
            if waiting is not None:
                waiting(shown)

        async def turn() -> AsyncTransition:
            try:
                async with self._giving_up(ticket):
                    await self.arbiter._open()
                    await self.arbiter._run(self.arbiter._flows.serialize(ticket, timeout, told, True))
                return AsyncTransition(self.arbiter, ticket)
            except BaseException as error:
                if not asked.done():
                    asked.set_exception(error)
                raise
            finally:
                if not asked.done():
                    asked.set_result(None)

        return AsyncInteractiveTransition(self.arbiter, ticket, asked, asyncio.ensure_future(turn()))

    async def declare(
        self, storyboard: Mapping[str, Any], *, if_undeclared: bool = False, dry_run: bool = False
    ) -> Document | None:
        """See `Scene.declare`."""
        return await self.arbiter._run(self.arbiter._flows.declare(self.name, storyboard, if_undeclared, dry_run))

    async def patch_storyboard(self, changes: Mapping[str, Any]) -> Document:
        """See `Scene.patch_storyboard`."""
        return await self.arbiter._run(self.arbiter._flows.patch_storyboard(self.name, changes))

    async def revoke(self, *, reason: str, client: str | None = None) -> list[str]:
        """See `Scene.revoke`."""
        return await self.arbiter._run(self.arbiter._flows.revoke_all(self.name, reason, client))

    async def add_guard(
        self, controllers: Iterable[str], *, on_silence: Literal["proceed", "abort"] = "proceed"
    ) -> Document:
        """See `Scene.add_guard`."""
        await self.arbiter._open()
        return await self.arbiter._run(self.arbiter._flows.add_guard(self.name, controllers, on_silence))

    async def remove_guard(self, id: str) -> None:
        """See `Scene.remove_guard`."""
        await self.arbiter._open()
        await self.arbiter._run(self.arbiter._flows.remove_guard(self.name, id))

    async def dry_run(
        self, call: Literal["start", "serialize"], **options: Unpack[TransitionOptions]
    ) -> Document:
        """See `Scene.dry_run`."""
        return await self.arbiter._run(self.arbiter._flows.dry_run(self.name, call, options))

    async def until_idle(
        self, *, controller: str | None = None, quiet: float = 0.0, timeout: float | None = None
    ) -> Document:
        """See `Scene.until_idle`."""
        checked_seconds("quiet", quiet)
        checked_timeout(timeout)
        return await self.arbiter._run(self.arbiter._flows.until_idle(self.name, controller, quiet, timeout))

    async def until_controller(
        self, id: str, *, is_: Condition | None = None, not_: Condition | None = None, timeout: float | None = None
    ) -> Document:
        """See `Scene.until_controller`."""
        checked_timeout(timeout)
        return await self.arbiter._run(self.arbiter._flows.until_controller(self.name, id, is_, not_, timeout))

    async def controller(self, id: str) -> Document:
        """See `Scene.controller`."""
        return await self.arbiter._run(self.arbiter._flows.controller(self.name, id))

    async def read(self) -> Document:
        """See `Scene.read`."""
        return await self.arbiter._run(self.arbiter._flows.read(self.name))

    def hierarchy(self) -> AsyncHierarchy:
        """Its hierarchy, kept by events: `async with scene.hierarchy() as hierarchy: …`."""
        return AsyncHierarchy(self.arbiter, self.name)

    def events(self, *, since: str | None = None, attached: bool = False) -> AsyncIterator[Event]:
        """See `Scene.events`."""
        arbiter = self.arbiter
        return arbiter._events(arbiter._stream(Flows.scene_path(self.name, "/events"), since, attached))

    @asynccontextmanager
    async def _giving_up(self, ticket: Ticket) -> AsyncIterator[None]:
        try:
            yield
        except BaseException as error:
            if ticket.may_wait_after(error):
                try:
                    await asyncio.shield(self.arbiter._run(self.arbiter._flows.give_up(ticket)))
                except (ArbiterError, asyncio.CancelledError):
                    pass  # The ticket ends with the session.
            raise


class AsyncTransition(HeldTransition[asyncio.Event]):
    """A transition that this client holds, until it ends it; see `Transition`."""

    def __init__(self, arbiter: AsyncArbiter, ticket: Ticket) -> None:
        over = asyncio.Event()
        super().__init__(arbiter._flows, ticket, asyncio.Event(), asyncio.Event(), over)
        self._arbiter = arbiter
        self._moving: asyncio.Future[Document] | None = None
        if self.ended is None:
            self._keeper = _Keeper(self, over)
            if arbiter._flows.is_closed:
                self._lose_session()

    async def perform(
        self, operation: Operations, *, expect: Mapping[str, Any] | list[Mapping[str, Any]] | None = None,
        animated: bool = True, ignore_guards: bool = False,
    ) -> Document:
        """See `Transition.perform`."""
        return await self._arbiter._run(self._performing(operation, expect, animated, ignore_guards))

    async def update(self, animation: Mapping[str, Any]) -> Document:
        """See `Transition.update`."""
        return await self._arbiter._run(self._flows.update(self._ticket, animation))

    async def complete(self) -> Document:
        """See `Transition.complete`."""
        return await self._end("completed")

    async def cancel(self) -> Document:
        """See `Transition.cancel`."""
        return await self._end("cancelled")

    def progress(
        self, fraction: float, *, velocity: float | None = None, sequence: int | None = None
    ) -> Coroutine[Any, Any, Document]:
        """See `Transition.progress`.

        The position is taken from the call on. In `asyncio.create_task(…)`, where nobody waits for it, only the newest is sent.
        """
        return self._moved(self._ticket.finger.move(fraction, velocity, sequence))

    async def _moved(self, is_newer: bool) -> Document:
        if not is_newer:
            return self._ticket.ignored
        if self._moving is None or self._moving.done():
            self._moving = asyncio.ensure_future(self._arbiter._run(self._flows.move(self._ticket)))
            self._moving.add_done_callback(lambda moving: moving.cancelled() or moving.exception())
        return await asyncio.shield(self._moving)

    async def release(
        self, *, decision: Literal["finish", "cancel"] | None = None, fraction: float | None = None, velocity: float | None = None,
        cancelled: bool | None = None, completion_speed: float | None = None,
    ) -> Document:
        """See `Transition.release`."""
        given = {
            "decision": decision, "fraction": fraction, "velocity": velocity, "cancelled": cancelled,
            "completion_speed": completion_speed,
        }
        return await self._arbiter._run(self._flows.release(self._ticket, given))

    @asynccontextmanager
    async def _ended_after_body(self) -> AsyncIterator[None]:
        _bodies.enter(self.id)
        try:
            yield
        except BaseException:
            try:
                await asyncio.shield(self._end_after_body(failed=True))
            except (ArbiterError, asyncio.CancelledError):
                pass  # What the body raised is what the caller has to know.
            except RuntimeError:
                if not self._flows.is_forked:
                    raise
            raise
        finally:
            _bodies.leave(self.id)
        # It ends also if the task is cancelled.
        await asyncio.shield(self._end_after_body(failed=False))

    async def _end_after_body(self, *, failed: bool) -> None:
        """Ends it, unless its owner has done so."""
        if not self._is_ended_by_owner:
            try:
                await self._end(self._outcome_after_body(failed))
            except Refused:
                self._ticket.is_given_up = True  # It would go on, but nobody holds it any more.
                raise

    async def _end(self, outcome: str | None) -> Document:
        if self.noop:
            return self.document
        document = await self._arbiter._run(self._ending(outcome))
        # Its await is answered by the end, so that no connection is cut.
        await asyncio.wait([self._keeper.task], timeout=MARGIN)
        return document


class _Keeper:
    """Keeps a transition, until that has ended or nobody refers to it any more."""

    def __init__(self, transition: AsyncTransition, over: asyncio.Event) -> None:
        self._transition = weakref.ref(transition)
        self._arbiter = transition._arbiter
        self._ticket = transition._ticket
        self._lost, self._interrupted = transition.lost, transition.interrupted
        self._over = over
        self._arbiter._keepers.add(self)
        self.task = asyncio.create_task(self._run(), name=f"transition {transition.id}")

    def _interrupt(self, interruption: Document) -> None:
        if (transition := self._transition()) is not None:
            transition._interrupt(interruption)

    def lose_session(self) -> None:
        if (transition := self._transition()) is not None:
            transition._lose_session()

    async def _run(self) -> None:
        arbiter = self._arbiter
        try:
            ended = await arbiter._run(arbiter._flows.keep(self._ticket, self._over.is_set, self._interrupt), self._over)
        except Closed:
            return  # It has been lost with the session.
        finally:
            arbiter._keepers.discard(self)
        if (transition := self._transition()) is not None:
            transition._lose(ended)
        else:
            self._lost.set()
            self._interrupted.set()
