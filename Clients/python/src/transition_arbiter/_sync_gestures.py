"""Gestures with threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager, suppress
from typing import TYPE_CHECKING

from ._flows import Ticket
from .errors import ArbiterError

if TYPE_CHECKING:
    from ._sync import Arbiter, Transition

Rest = Callable[[float, "Transition"], object]


class InteractiveTransition:
    """A transition that a finger drives, from the request on.

    `update` says where the finger is, and returns at once; only the newest position is sent. `finish`, `cancel` and `release` say
    that it has left, play the rest of the animation, and end the transition. All of that may come before its turn.
    """

    def __init__(
        self, arbiter: Arbiter, ticket: Ticket, asked: Future[None], turn: Future[Transition],
        hold: Callable[[], AbstractContextManager[Transition]],
    ) -> None:
        self._arbiter = arbiter
        self._ticket = ticket
        self._asked = asked
        """Done when the ticket has an id."""
        self._turn = turn
        self._hold = hold
        self._lock = threading.Lock()
        self._is_moving = False
        self._played: Future[bool] | None = None
        """Whether it has finished, when its rest has been played."""

    def granted(self, timeout: float | None = None) -> Transition:
        """The transition, when its turn has come. Raises what `Scene.serialize` raises; `TimeoutError` if it takes longer."""
        self._check()
        return self._turn.result(timeout)

    def update(self, fraction: float, *, velocity: float | None = None) -> None:
        """Where the finger is: `fraction` is from 0 to 1, `velocity` fractions a second.

        What is less or more counts as 0 or 1. What cannot be sent is replaced by the next position. Raises `TypeError` or
        `ValueError` for what is no finite number.
        """
        self._arbiter._flows.check_process()
        if self._ticket.finger.move(fraction, velocity, None):
            with self._lock:
                if self._is_moving:
                    return
                threading.Thread(target=self._move, name="finger of arbiter", daemon=True).start()
                self._is_moving = True

    def finish(self, rest: Rest | None = None) -> None:
        """The finger has left, and the transition finishes: see `release`."""
        self._settle("finish", rest)

    def cancel(self, rest: Rest | None = None) -> None:
        """The finger has left, and the transition goes back: see `release`.

        Before its turn, it leaves the queue, and `rest` is not called. Nothing is raised if it has left the queue already.
        """
        self._settle("cancel", rest)

    def release(self, rest: Rest | None = None) -> bool:
        """The finger has left, and the policy of the transition decides, by the newest position.

        `rest` is called with the seconds that remain of the animation, and the transition. It plays the rest, back unless
        `transition.decision` is ``finish``; unless given, the seconds pass. What is released a second time waits for the first, and
        does not play it again. Returns whether it has finished; not if there was nothing to do, for which `rest` plays the way back.

        Raises what `rest` raises: it ends as decided nevertheless; `TransitionEnded` if it was lost, or could not run when its turn
        came; `BlockedBySelf`, `Refused` or `Unreachable`. If its turn does not come in time, it raises `TimedOut`, and what was
        decided to finish does so at its turn all the same, without its animation.
        """
        return self._settle(None, rest)

    def _move(self) -> None:
        # What could not be asked for has no finger: whoever asks for it is told.
        while self._asked.exception() is None:
            with suppress(ArbiterError):
                self._arbiter._run(self._arbiter._flows.move(self._ticket))
            with self._lock:
                # What comes from now on has a thread of its own.
                if not self._ticket.finger.is_ahead:
                    self._is_moving = False
                    return

    def _check(self) -> None:
        self._arbiter._flows.check_process()
        self._asked.result()
        self._arbiter._run(self._arbiter._flows.check_gesture(self._ticket))

    def _settle(self, decision: str | None, rest: Rest | None) -> bool:
        if rest is not None and not callable(rest):
            raise TypeError(f"rest is a function, not {type(rest).__name__}")
        is_first = self._played is None
        try:
            return self._settled(decision, rest)
        except Exception:
            raise
        except BaseException:
            # Nobody waits for it any more, after a `KeyboardInterrupt` for example.
            if is_first and not self._arbiter._flows.is_forked:
                self._ticket.is_given_up = True
                with suppress(ArbiterError):
                    self._arbiter._run(self._arbiter._flows.give_up(self._ticket))
            raise

    def _settled(self, decision: str | None, rest: Rest | None) -> bool:
        self._arbiter._flows.check_process()
        if self._turn.done():
            if (failure := self._turn.exception()) is None:
                self._turn.result().check()  # What is lost must not be decided: that would count when its lease runs out.
            elif decision == "cancel":
                return False
            else:
                raise failure
        if decision == "cancel":
            self._asked.result()
        else:
            self._check()
        released = self._arbiter._run(self._arbiter._flows.release(self._ticket, {"decision": decision}))
        if released["state"] == "ended" and not released.get("noop"):
            # It has left the queue before its turn, or was released and has ended before.
            return bool(released["outcome"] == "completed")
        with self._lock:
            is_first = self._played is None
            played = self._played = self._played or Future()
        if is_first:
            try:
                played.set_result(self._play(rest, released.get("remaining")))
            except BaseException as error:
                played.set_exception(error)
                raise
        return played.result()

    def _play(self, rest: Rest | None, remaining: float | None) -> bool:
        """Plays the rest when its turn has come, ends it, and says whether it has finished."""
        with self._hold() as transition:
            transition.check()
            # A finger that left before the turn has drawn nothing.
            seconds = transition.duration if remaining is None else remaining
            if rest is None:
                transition.lost.wait(seconds)
            else:
                rest(seconds, transition)
        return bool(transition.document["outcome"] == "completed") and not transition.noop
