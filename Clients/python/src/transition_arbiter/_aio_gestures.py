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
    """A transition that a finger drives, from the request on.

    `update` says where the finger is, and returns at once; only the newest position is sent. `finish`, `cancel` and `release` say
    that it has left, play the rest of the animation, and end the transition. All of that may come before its turn.
    """

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
        """The transition, when its turn has come. Raises what `AsyncScene.serialize` raises."""
        await self._check()
        return await asyncio.shield(self._turn)

    def update(self, fraction: float, *, velocity: float | None = None) -> None:
        """Where the finger is: `fraction` is from 0 to 1, `velocity` fractions a second.

        What is less or more counts as 0 or 1. What cannot be sent is replaced by the next position. Raises `TypeError` or `ValueError` for what is no finite number.
        """
        if self._ticket.finger.move(fraction, velocity, None) and (self._moving is None or self._moving.done()):
            self._moving = asyncio.ensure_future(self._move())
            self._moving.add_done_callback(lambda moving: moving.cancelled() or moving.exception())

    async def finish(self, rest: Rest | None = None) -> None:
        """The finger has left, and the transition finishes: see `release`."""
        await self._settle("finish", rest)

    async def cancel(self, rest: Rest | None = None) -> None:
        """The finger has left, and the transition goes back: see `release`.

        Before its turn, it leaves the queue, and `rest` is not called. Nothing is raised if it has left the queue already.
        """
        await self._settle("cancel", rest)

    async def release(self, rest: Rest | None = None) -> bool:
        """The finger has left, and the policy of the transition decides, by the newest position.

        `rest` is called with the seconds that remain of the animation, and the transition. It plays the rest, back unless
        `transition.decision` is ``finish``; unless given, the seconds pass. What is released a second time waits for the first, and
        does not play it again. Returns whether it has finished; not if there was nothing to do, for which `rest` plays the way back.

        Raises what `rest` raises: it ends as decided nevertheless; `TransitionEnded` if it was lost, or could not run when its turn
        came; `BlockedBySelf`, `Refused` or `Unreachable`. If its turn does not come in time, it raises `TimedOut`, and what was
        decided to finish does so at its turn all the same, without its animation.
        """
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
