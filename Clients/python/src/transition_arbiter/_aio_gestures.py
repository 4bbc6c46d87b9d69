"""Gestures with `asyncio`."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from ._flows import Ticket
from .errors import ArbiterError

if TYPE_CHECKING:
    from ._aio import AsyncArbiter, AsyncTransition

Rest = Callable[[float, "AsyncTransition"], object]


class AsyncInteractiveTransition:
    """A transition that a finger drives, from the request on; see `InteractiveTransition`."""

    def __init__(
        self, arbiter: AsyncArbiter, ticket: Ticket, asked: asyncio.Future[None], turn: asyncio.Future[AsyncTransition]
    ) -> None:
        self._arbiter = arbiter
        self._ticket = ticket
        self._asked = asked
        """Done when the ticket has an id."""
        self._turn = turn
        self._moving: asyncio.Future[None] | None = None
        self._played: asyncio.Future[bool] | None = None
        """Whether it has finished, when its rest has been played."""
        for each in (asked, turn):
            # Whoever waits for it is told what it raises.
            each.add_done_callback(lambda done: done.cancelled() or done.exception())

    async def granted(self) -> AsyncTransition:
        """See `InteractiveTransition.granted`."""
        await self._check()
        return await asyncio.shield(self._turn)

    def update(self, fraction: float, *, velocity: float | None = None) -> None:
        """See `InteractiveTransition.update`."""
        if self._ticket.finger.move(fraction, velocity, None) and (self._moving is None or self._moving.done()):
            self._moving = asyncio.ensure_future(self._move())
            self._moving.add_done_callback(lambda moving: moving.cancelled() or moving.exception())

    async def finish(self, rest: Rest | None = None) -> None:
        """See `InteractiveTransition.finish`."""
        await self._settle("finish", rest)

    async def cancel(self, rest: Rest | None = None) -> None:
        """See `InteractiveTransition.cancel`."""
        await self._settle("cancel", rest)

    async def release(self, rest: Rest | None = None) -> bool:
        """See `InteractiveTransition.release`."""
        return await self._settle(None, rest)

    async def _move(self) -> None:
        await asyncio.shield(self._asked)
        await self._arbiter._run(self._arbiter._flows.move(self._ticket))

    async def _check(self) -> None:
        await asyncio.shield(self._asked)
        await self._arbiter._run(self._arbiter._flows.check_gesture(self._ticket))

    async def _settle(self, decision: str | None, rest: Rest | None) -> bool:
        if rest is not None and not callable(rest):
            raise TypeError(f"rest is a function, not {type(rest).__name__}")
        is_first = self._played is None
        try:
            return await self._settled(decision, rest)
        except asyncio.CancelledError:
            if is_first:
                await self._let_go()
            raise

    async def _let_go(self) -> None:
        """Nobody waits for it any more: it leaves the queue, or ends as it was decided."""
        if self._turn.cancel() or self._turn.cancelled() or self._turn.exception() is not None:
            return
        with suppress(ArbiterError, asyncio.CancelledError):
            await asyncio.shield(self._turn.result()._end_after_body(failed=True))

    async def _settled(self, decision: str | None, rest: Rest | None) -> bool:
        if self._turn.done() and not self._turn.cancelled():
            if (failure := self._turn.exception()) is None:
                self._turn.result().check()  # What is lost must not be decided: that would count when its lease runs out.
            elif decision == "cancel":
                return False
            else:
                raise failure
        if decision == "cancel":
            await asyncio.shield(self._asked)
        else:
            await self._check()
        released = await self._arbiter._run(self._arbiter._flows.release(self._ticket, {"decision": decision}))
        if released["state"] == "ended" and not released.get("noop"):
            # It has left the queue before its turn, or was released and has ended before.
            return bool(released["outcome"] == "completed")
        if self._played is not None:
            return await asyncio.shield(self._played)
        self._played = asyncio.get_running_loop().create_future()
        self._played.add_done_callback(lambda played: played.cancelled() or played.exception())
        try:
            self._played.set_result(await self._play(rest, released.get("remaining")))
        except Exception as error:
            self._played.set_exception(error)
            raise
        except BaseException:
            self._played.cancel()
            raise
        return self._played.result()

    async def _play(self, rest: Rest | None, remaining: float | None) -> bool:
        """Plays the rest when its turn has come, ends it, and says whether it has finished."""
        transition = await asyncio.shield(self._turn)
        transition.check()
        async with transition._ended_after_body():
            # A finger that left before the turn has drawn nothing.
            played = (rest or _pass)(transition.duration if remaining is None else remaining, transition)
            if inspect.isawaitable(played):
                await played
        return bool(transition.document["outcome"] == "completed") and not transition.noop


async def _pass(seconds: float, transition: AsyncTransition) -> None:
    try:
        await asyncio.wait_for(transition.lost.wait(), seconds)
    except TimeoutError:
        pass
