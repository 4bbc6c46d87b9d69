"""The lock of a scene in the words of TransitionLock for iOS."""

from __future__ import annotations

import asyncio
import inspect
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any, Generic, TypedDict, TypeVar, Unpack

from . import operations
from ._aio import AsyncScene, AsyncTransition
from ._flows import TransitionOptions
from ._sync import Scene, Transition
from ._wire import Document
from .errors import ArbiterError, Refused, TransitionEnded, Unreachable
from .operations import Controller, Operation

Expectations = Mapping[str, Any] | list[Mapping[str, Any]] | None


class How(TypedDict, total=False):
    """How an operation is performed."""

    animated: bool
    """Whether it is drawn; it is, unless this is false."""
    expect: Expectations
    """What must hold when it is performed."""


Held = TypeVar("Held", Transition, AsyncTransition)
Performed = TypeVar("Performed")


class _Open(Generic[Held]):
    """A transition that was begun without an operation, and may be given one."""

    def __init__(
        self, transition: Held, lock: object, completed: threading.Event | asyncio.Event, order: Any
    ) -> None:
        self.transition: Held = transition
        self.lock = lock
        """What stands for its lock, and does not refer to it: one that is dropped gives back what it holds."""
        self.completed = completed
        """Set when it gets no operation any more, because its owner has completed it or has lost it."""
        self.order = order
        """A lock, held while an operation is performed, so that one comes after the other, and the end after all of them."""
        self.is_performed = False
        self.failure: Exception | None = None
        """Why its operation was not performed to the end, or may be unknown to the daemon, so that it is not to be applied."""
        transition._when_lost = completed.set
        if transition.lost.is_set():
            completed.set()

    def check_bare(self) -> None:
        """Raises `TransitionEnded` if it is lost, and `Refused` if it has its operation."""
        self.transition.check()
        if self.is_performed:
            # The daemon takes the same one for a repetition.
            detail = "A transition has one operation: ask for another transition"
            raise Refused(409, {"code": "already-performed", "detail": detail})

    def accepts(self, performed: Document) -> bool:
        """Notes the answer to an operation: whether it is to be drawn."""
        if performed.get("noop"):
            return False
        self.is_performed = True
        self.failure = None  # What was asked before was not accepted, or was this.
        return True

    @contextmanager
    def performing(self) -> Iterator[None]:
        """While it is given an operation, and that is drawn."""
        drawn = _drawn.set(self)
        try:
            yield
            self.transition.check()
        except BaseException as error:
            if self.is_performed or _may_have_happened(error):
                # The error itself would hold its frames, and so the lock that was dropped.
                self.failure = ArbiterError(f"The operation was not drawn to its end: {error!r}")
            raise
        finally:
            _drawn.reset(drawn)

    @property
    def is_drawn_here(self) -> bool:
        """Whether this code is what draws its operation."""
        return _drawn.get() is self


def _may_have_happened(error: BaseException) -> bool:
    """Whether what was asked may have happened nevertheless."""
    if isinstance(error, Refused):
        return error.status in (429, 503) and error.code != "older-rules"
    return isinstance(error, Unreachable) or not isinstance(error, Exception)


_drawn: ContextVar[_Open[Any] | None] = ContextVar("the transition whose operation code draws", default=None)
_block: ContextVar[_Open[Any] | None] = ContextVar("the transition in whose block code runs", default=None)


class _Words(ABC, Generic[Held, Performed]):
    """The words that both locks have, and what an operation belongs to.

    An operation that is asked for while a transition of `start_transition`, or a block, has this lock belongs to that
    transition, which gets one operation; a second one is refused with ``already-performed``. Otherwise it waits for a transition
    of its own. What an operation returns are the controllers that were popped or dismissed, in that order.
    """

    def __init__(self, timeout: float | None, options: TransitionOptions) -> None:
        self._timeout = timeout
        self._options = options
        self._identity = object()
        self._started: _Open[Held] | None = None
        self._running: _Open[Held] | None = None
        """The transition of the block that runs."""

    @abstractmethod
    def perform(self, operation: Operation | Sequence[Operation], *, animated: bool = True, expect: Expectations = None) -> Performed:
        """Performs an operation, or several as one; `expect` is what must hold when it is performed."""

    def perform_segue(
        self, identifier: str, *, source: str, destination: Controller | None = None, **how: Unpack[How]
    ) -> Performed:
        """Performs a segue of the storyboard."""
        return self.perform(operations.segue(identifier, source=source, destination=destination), **how)

    def push(self, controller: Controller, *, navigation: str, **how: Unpack[How]) -> Performed:
        """Pushes a controller onto a navigation."""
        return self.perform(operations.push(controller, navigation=navigation), **how)

    def pop(self, navigation: str, **how: Unpack[How]) -> Performed:
        """Pops the top of a navigation."""
        return self.perform(operations.pop(navigation), **how)

    def pop_to(self, controller: str, *, navigation: str, **how: Unpack[How]) -> Performed:
        """Pops until a controller is at the top of a navigation."""
        return self.perform(operations.pop_to(controller, navigation=navigation), **how)

    def pop_to_root(self, navigation: str, **how: Unpack[How]) -> Performed:
        """Pops until the root is at the top of a navigation."""
        return self.perform(operations.pop_to_root(navigation), **how)

    def present(self, controller: Controller, *, presenter: str | None = None, **how: Unpack[How]) -> Performed:
        """Presents a controller, modally."""
        return self.perform(operations.present(controller, presenter=presenter), **how)

    def dismiss(self, controller: str, **how: Unpack[How]) -> Performed:
        """Dismisses what a controller presents, or the layer that it is in."""
        return self.perform(operations.dismiss(controller), **how)

    def select(
        self, tabs: str, *, index: int | None = None, controller: str | None = None, offset: int | None = None,
        **how: Unpack[How],
    ) -> Performed:
        """Selects a tab by exactly one of its index, its controller and its offset from the selected tab."""
        return self.perform(operations.select(tabs, index=index, controller=controller, offset=offset), **how)

    def _current(self) -> _Open[Held] | None:
        """The transition of the block that runs, or of the one that this code is in, if that is lost; nothing in any other block."""
        within = _block.get()
        if within is None or within.lock is not self._identity or within is self._running:
            return self._running
        return within if within.transition.lost.is_set() else None

    def _belongs(self) -> _Open[Held] | None:
        """What an operation that is asked for now belongs to, if anything; what is asked of one that is lost fails as it does."""
        running = self._current()
        if running is not None and running.transition.lost.is_set() and running is _block.get():
            return running
        # Two do not hold the lock: the one that was granted before has lost it, although that may not have been heard yet.
        granted = [open for open in (self._started, running) if open is not None]
        open = max(granted, key=lambda open: open.transition.fence or 0, default=None)
        return None if open is None or open.completed.is_set() and not open.transition.lost.is_set() else open

    @contextmanager
    def _running_block(self, open: _Open[Held]) -> Iterator[None]:
        self._running = open
        within = _block.set(open)
        try:
            yield
        finally:
            open.completed.set()
            _block.reset(within)
            if self._running is open:
                self._running = None

    def _options_of(
        self, operation: Operation | Sequence[Operation], animated: bool, expect: Expectations,
    ) -> TransitionOptions:
        options: TransitionOptions = {**self._options}
        if isinstance(operation, Mapping):
            options["operation"] = operation
        else:
            options["operations"] = operation
        if expect is not None:
            options["expect"] = [*options.get("expect", []), *(expect if isinstance(expect, list) else [expect])]
        if not animated:
            options["animation"] = {**options.get("animation", {}), "duration": 0}
        return options


class TransitionLock(_Words[Transition, list[str]]):
    """The lock of a scene in the words of TransitionLock for iOS: one transition of this object at a time.

        if lock.start_transition():
            try:
                lock.perform_segue("mySegue", source="list")
            finally:
                lock.end_transition()

        def block():
            lock.dismiss("menu")
            lock.transition_complete()

        lock.serialize_transition(block)

    `perform` draws an operation while its transition is held; unless given, its duration passes. It returns when the transition
    is lost, and must not wait for another thread that ends it. `timeout` is how many seconds a turn may take to come. The other
    options are asked of every transition.
    """

    def __init__(
        self, scene: Scene, *, perform: Callable[[Transition], object] | None = None, timeout: float | None = None,
        **options: Unpack[TransitionOptions],
    ) -> None:
        super().__init__(timeout, options)
        self._scene = scene
        self._draw = perform or (lambda transition: transition.lost.wait(transition.duration))
        self._lock = threading.Lock()

    def start_transition(self) -> bool:
        """Tries to begin a transition: whether it has begun.

        If not, another one is in the way, or the last one has not been ended, and the event is to be dropped. Raises what
        `Scene.start` raises.
        """
        if self._started is not None or (transition := self._scene.start(**self._options)) is None:
            return False
        with self._lock:
            if self._started is None:
                self._started = _Open(transition, self._identity, threading.Event(), threading.RLock())
                return True
        # The lock was lost between two calls at once.
        transition.cancel()
        return False

    def end_transition(self) -> None:
        """Ends what `start_transition` began; nothing if there is none.

        Raises `TransitionEnded` if it was lost, or `Unreachable`.
        """
        with self._lock:
            started, self._started = self._started, None
        if started is not None:
            self._end(started)

    def serialize_transition(self, block: Callable[[], object]) -> list[str]:
        """Runs a block when it is its turn, first come, first served among equal priorities; the lock is held until `transition_complete`.

        Returns what its operation has removed, when the block has returned too. Raises what the block raises, and what
        `Scene.transition` raises.
        """
        with self._scene.transition(timeout=self._timeout, **self._options) as transition:
            open = _Open(transition, self._identity, threading.Event(), threading.RLock())
            with self._running_block(open):
                block()
                open.completed.wait()
            with open.order:
                if open.failure is not None:
                    transition.check()  # Its loss says more.
                    raise open.failure
        return _outcome(transition.ended)

    def transition_complete(self) -> None:
        """The block that runs has completed its transition, which ends now, or when another thread has drawn its operation.

        A block that has lost it, and says so late in its own thread, completes no other one.
        """
        if (open := self._current()) is None or open.completed.is_set():
            return
        open.completed.set()
        # What draws may wait for this thread. Then `serialize_transition` ends it.
        if open.order.acquire(blocking=False):
            try:
                self._end(open)
            finally:
                open.order.release()

    def perform(self, operation: Operation | Sequence[Operation], *, animated: bool = True, expect: Expectations = None) -> list[str]:
        """Performs an operation; `expect` is what must hold when it is performed.

        Returns what it has removed. Raises what `Transition.perform` and `Scene.transition` raise.
        """
        if (open := self._belongs()) is not None:
            open.check_bare()  # Not after what is drawn now, which may be what asks.
            with open.order:
                open.check_bare()
                if self._belongs() is open:
                    with open.performing():
                        performed = open.transition.perform(operation, expect=expect, animated=animated)
                        if open.accepts(performed):
                            self._draw(open.transition)
                    return _removed(performed)
        options = self._options_of(operation, animated, expect)
        with self._scene.transition(timeout=self._timeout, **options) as transition:
            if not transition.noop:
                self._draw(transition)
        return _outcome(transition.ended)

    def _end(self, open: _Open[Transition]) -> None:
        open.completed.set()
        try:
            with open.order:
                open.transition._end_after_body(failed=open.failure is not None)
        except ArbiterError:
            raise
        except BaseException:
            # Nobody else knows it: its keeper ends it.
            open.transition._ticket.is_given_up = True
            raise


class AsyncTransitionLock(_Words[AsyncTransition, Coroutine[Any, Any, list[str]]]):
    """See `TransitionLock`. Blocks, and what draws, may be coroutine functions."""

    def __init__(
        self, scene: AsyncScene, *, perform: Callable[[AsyncTransition], object] | None = None,
        timeout: float | None = None, **options: Unpack[TransitionOptions],
    ) -> None:
        super().__init__(timeout, options)
        self._scene = scene
        self._draw = perform or _pass_duration

    async def start_transition(self) -> bool:
        """See `TransitionLock.start_transition`."""
        if self._started is not None or (transition := await self._scene.start(**self._options)) is None:
            return False
        if self._started is not None:
            # The lock was lost between two calls at once.
            await transition.cancel()
            return False
        self._started = _Open(transition, self._identity, asyncio.Event(), asyncio.Lock())
        return True

    async def end_transition(self) -> None:
        """See `TransitionLock.end_transition`. It ends also if the task is cancelled."""
        started, self._started = self._started, None
        if started is not None:
            started.completed.set()
            await asyncio.shield(self._end(started))

    async def serialize_transition(self, block: Callable[[], object]) -> list[str]:
        """See `TransitionLock.serialize_transition`; the transition ends when it is complete, also if the block goes on."""
        async with self._scene.transition(timeout=self._timeout, wait_for_self=True, **self._options) as transition:
            open = _Open(transition, self._identity, asyncio.Event(), asyncio.Lock())
            with self._running_block(open):
                ran = asyncio.ensure_future(_done(block))
                # Nobody waits for what it does after it has lost its transition.
                ran.add_done_callback(lambda ran: ran.cancelled() or ran.exception())
                try:
                    await _first(ran, open.completed)
                except BaseException:
                    # What it does last, it does while it holds the lock.
                    ran.cancel()
                    await asyncio.wait([ran])
                    raise
            async with open.order:
                if open.failure is not None:
                    transition.check()  # Its loss says more.
                    raise open.failure
        await ran
        return _outcome(transition.ended)

    def transition_complete(self) -> None:
        """The block that runs has completed its transition.

        A block that has lost it, and says so late, completes no other one.
        """
        if (open := self._current()) is not None:
            open.completed.set()

    async def perform(self, operation: Operation | Sequence[Operation], *, animated: bool = True, expect: Expectations = None) -> list[str]:
        """See `TransitionLock.perform`."""
        if (open := self._belongs()) is not None:
            open.check_bare()  # Not after what is drawn now, which may be what asks.
            async with open.order:
                open.check_bare()
                with open.performing():
                    performed = await open.transition.perform(operation, expect=expect, animated=animated)
                    if open.accepts(performed):
                        await _done(self._draw, open.transition)
            return _removed(performed)
        options = self._options_of(operation, animated, expect)
        async with self._scene.transition(timeout=self._timeout, wait_for_self=True, **options) as transition:
            if not transition.noop:
                await _done(self._draw, transition)
        return _outcome(transition.ended)

    async def _end(self, started: _Open[AsyncTransition]) -> None:
        is_waited_for = not started.is_drawn_here and not started.transition.lost.is_set()
        async with started.order if is_waited_for else nullcontext():
            await started.transition._end_after_body(failed=started.failure is not None)


async def _first(ran: asyncio.Future[None], completed: threading.Event | asyncio.Event) -> None:
    """Waits until the block has said that it is complete, or has failed."""
    assert isinstance(completed, asyncio.Event)
    waiting = asyncio.ensure_future(completed.wait())
    try:
        either: set[asyncio.Future[Any]] = {ran, waiting}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        # What it raises after it has completed its transition is no part of that.
        if ran.done() and not completed.is_set():
            ran.result()
            await waiting
    finally:
        waiting.cancel()


async def _done(call: Callable[..., object], *arguments: object) -> None:
    result = call(*arguments)
    if inspect.isawaitable(result):
        await result


async def _pass_duration(transition: AsyncTransition) -> None:
    try:
        await asyncio.wait_for(transition.lost.wait(), transition.duration)
    except TimeoutError:
        pass


def _removed(document: Document | None) -> list[str]:
    return list((document or {}).get("removed", []))


def _outcome(ended: Document | None) -> list[str]:
    """What a transition has removed. Raises `TransitionEnded` if it was not completed, as its gesture may have been decided."""
    if ended is not None and ended["outcome"] != "completed":
        raise TransitionEnded(ended)
    return _removed(ended)
