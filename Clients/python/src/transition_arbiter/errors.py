"""What goes wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class ArbiterError(Exception):
    """Every error of this package."""


class Unreachable(ArbiterError):
    """No answer came from the daemon within `patience`: it is not there, or the connection is cut."""


class TimedOut(ArbiterError):
    """The turn did not come within `timeout`; the ticket has been given up."""


class BlockedBySelf(ArbiterError):
    """The turn would never come, because it is asked for in the body of a transition that is in its way.

    Locks are not re-entrant. The ticket, which `document` shows, has been given up. `wait_for_self` has it wait all the same.
    """

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.document = dict(document)
        super().__init__(
            f"The turn in {self.document.get('scene')} is asked for in the body of a transition that is in its way: do this as a "
            "part of that one, or after its end")


class Closed(ArbiterError):
    """The client has been closed, before the call or while it waited."""


class Refused(ArbiterError):
    """The daemon refused a request, as a problem of RFC 9457.

    `code` is for programs, for example ``queue-full``; `detail` is a sentence for people; `problem` is the whole document.
    """

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        self.status = status
        self.problem = dict(problem)
        self.code: str = problem.get("code", "unknown")
        self.detail: str = problem.get("detail") or problem.get("title") or f"HTTP {status}"
        super().__init__(f"{self.detail} ({self.code})")


class TransitionEnded(ArbiterError):
    """The transition ended without its owner, before or after its turn came.

    `outcome` is ``expired``, ``rejected``, ``superseded``, ``revoked`` or, if somebody else with the token ended it,
    ``cancelled`` or ``completed``; `reason` says why, and `code` which refusal it was. `document` is the transition, or
    `None` if the lease ran out unseen, because no answer of the daemon kept it: then the reason is ``unreachable``. If the
    daemon answered that it does not know it any more, as after a restart without its journal, the reason is ``forgotten``.
    """

    def __init__(self, document: Mapping[str, Any] | None) -> None:
        self.document = None if document is None else dict(document)
        shown = document or {
            "outcome": "expired", "reason": "unreachable",
            "detail": "no answer of the daemon kept it for as long as its lease lasts (unreachable)"}
        self.outcome: str = shown["outcome"]
        self.reason: str | None = shown.get("reason")
        self.code: str | None = shown.get("code")
        why = shown.get("detail") or self.reason
        super().__init__(f"The transition is {self.outcome}" + (f": {why}" if why else ""))
