"""What the transitions of both clients have in common."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Mapping
from typing import Any, Generic, Literal

from ._events import Flag, Over
from ._flows import Flows, Operations, Ticket, has_ended
from ._wire import Document, Flow
from .errors import ArbiterError, Refused, TransitionEnded


class HeldTransition(Generic[Over]):
    """A transition that this client holds, until it ends it or loses it. The flags are of `threading` or `asyncio`.

    What keeps it does not refer to it. One that is collected while it is held is given back by its keeper, when the next answer
    comes.
    """

    def __init__(self, flows: Flows, ticket: Ticket, lost: Over, interrupted: Over, is_over: Flag) -> None:
        self._flows = flows
        self._ticket = ticket
        self._is_over = is_over
        """Set when it need not be kept any longer, because its owner has ended it or has lost it."""
        self._lock = threading.Lock()
        self._is_ending = False
        """Whether its owner ends it now. What is heard of its end meanwhile is the owner's, or waits for a refusal."""
        self._unseen: list[Document | None] = []
        self._when_lost: Callable[[], None] = lambda: None
        """Called when it has ended without its owner."""
        self.lost = lost
        """Set as soon as it has ended without its owner; what was begun must not be continued."""
        self.interrupted = interrupted
        """Set as soon as its interruption begins, or it is over. An interrupted one ends when its grace is over, or by its owner."""
        # The answer that claims the grant may have been the first to say so.
        self.interruption: Document | None = None if has_ended(ticket.document) else ticket.document.get("interruption")
        """`by`, `client` and `graceRemaining`, as they were when the interruption was heard of; `None` before that."""
        if self.interruption is not None or has_ended(ticket.document):
            interrupted.set()
        self.ended: Document | None = ticket.shown if has_ended(ticket.document) else None
        """How it ended; `None` while it runs, and if its lease ran out unseen."""

    def __del__(self) -> None:
        # The last attribute is not there if an interrupt came while it was made; then its maker gives it up.
        if getattr(self, "ended", self) or self._is_over.is_set() or self._ticket.is_given_up or self._flows.is_forked:
            return
        self._ticket.is_given_up = True
        warnings.warn(f"{self.id} was not ended before it was collected; it is given back", ResourceWarning, source=self)

    def __repr__(self) -> str:
        document = self.document
        return f"<{type(self).__name__} {document.get('id')} in {document.get('scene')}, {document.get('state')}>"

    @property
    def document(self) -> Document:
        """The transition as it was granted, or given its operation, without its token; after its end the ended one."""
        return self._ticket.shown if self.ended is None else self.ended

    @property
    def id(self) -> str:
        return str(self._ticket.document["id"])

    @property
    def fence(self) -> int | None:
        """Grows with every grant of the scene: what is written with a lower one is from an earlier holder.

        `None` if it is a `noop`, which has no lock.
        """
        return self._ticket.document.get("fence")

    @property
    def duration(self) -> float:
        """How many seconds its animation takes, as the daemon has resolved it; 0 if it has none."""
        animation = self._ticket.document.get("animation", {}) if self._ticket.is_animated else {}
        return float(animation.get("duration", 0.0))

    @property
    def noop(self) -> bool:
        """Whether there was nothing to do: then it has completed already, and has no lock and no `fence`."""
        return bool(self._ticket.document.get("noop"))

    @property
    def decision(self) -> Literal["finish", "cancel"] | None:
        """How its gesture was decided; `None` before that, and if there was nothing to do."""
        return self._ticket.decision

    def check(self) -> None:
        """Raises `TransitionEnded` if it is lost."""
        self._flows.check_process()
        if self.lost.is_set():
            raise TransitionEnded(self.ended)

    def _lose(self, ended: Document | None) -> None:
        """Says that it has ended without its owner, unless its owner is ending it."""
        with self._lock:
            if self._is_ending:
                self._unseen.append(ended)
                return
            if self._is_over.is_set():
                return
            self.ended = ended
            self._is_over.set()
        self.lost.set()
        self.interrupted.set()
        self._when_lost()

    def _interrupt(self, interruption: Document) -> None:
        """Says that its interruption has begun."""
        if self.interruption is None:
            self.interruption = interruption
            self.interrupted.set()

    def _ending(self, outcome: str | None) -> Flow[Document]:
        """Ends it: without an outcome as its gesture was decided.

        Raises `TransitionEnded` if it is lost.
        """
        self.check()
        try:
            with self._lock:
                self._is_ending = True
            document = yield from self._flows.end(self._ticket, outcome)
        except Refused:
            self._refuse_end()
            raise
        except BaseException as error:
            if not isinstance(error, ArbiterError):
                self._ticket.is_given_up = True  # Its end was interrupted: its keeper ends it.
            self._finish_end(None)
            raise
        self._finish_end(document)
        return document

    def _performing(
        self, operation: Operations, expect: Any, animated: bool, ignore_guards: bool
    ) -> Flow[Document]:
        self.check()
        performed = yield from self._flows.perform(self._ticket, operation, expect, ignore_guards)
        if not performed.get("noop"):
            self._ticket.is_animated = animated
        return performed

    def _finish_end(self, ended: Document | None) -> None:
        with self._lock:
            self.ended = ended
            self._is_over.set()
        self.interrupted.set()

    def _refuse_end(self) -> None:
        """It goes on, as far as is known, and is kept."""
        with self._lock:
            self._is_ending = False
            unseen = self._unseen
        if unseen:
            self._lose(unseen[0])

    @property
    def _is_ended_by_owner(self) -> bool:
        return self.ended is not None and not self.lost.is_set()

    def _outcome_after_body(self, failed: bool) -> str | None:
        """How it ends when its body is over: as its gesture was decided, if it was."""
        if self.decision is not None:
            return None
        return "cancelled" if failed else "completed"

    def _lose_session(self) -> None:
        """Says that it ends with its session, which is given up."""
        self._lose({**self.document, "state": "ended", "outcome": "expired", "reason": "session-lost"})
