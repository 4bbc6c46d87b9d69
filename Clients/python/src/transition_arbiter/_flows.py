"""What a client does, step by step."""

from __future__ import annotations

import json
import logging
import os
import secrets
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, Literal, TypedDict
from urllib.parse import quote, urlencode

from . import _bodies
from ._events import Flag
from ._finger import Finger
from ._wire import (
    MARGIN, SESSION, Answer, Document, Flow, Send, Sleep, backoff, checked_headers, checked_id,
    checked_seconds, json_of, now)
from .errors import ArbiterError, BlockedBySelf, Closed, Refused, TimedOut, TransitionEnded, Unreachable

LOG = logging.getLogger("transition_arbiter")
# For how long the first request of a client finds no daemon before that is said, in seconds.
SILENCE_BEFORE_WORDS = 2.0
# The lease of a transition, in seconds, unless the daemon says another.
LEASE = 10.0
# The longest wait of one request, in seconds: shorter than the time in which proxies want an answer.
LONGEST_WAIT = 10.0
MOST_WAIT = 120.0
"""The longest wait that the wire has, in seconds."""
# The most entries on a page of a list.
LONGEST_PAGE = 1000
# What an answer may take that waits for nothing, in seconds.
LONGEST_ANSWER = 30.0
# What an answer that keeps a lease may take besides the wait, in seconds: a sixth of the lease, if that is not less.
KEEPING_MARGIN = 1.0
# The time between two attempts to keep a lease or a place, in seconds. The daemon ends a session two seconds after its last
# connection was cut.
SHORTEST_DELAY, LONGEST_DELAY = 0.05, 0.4


TransitionState = Literal["queued", "preparing", "running", "ended"]
# What a controller may be.
Condition = Literal["exists", "absent", "visible", "presented", "presenting", "top", "selected"]
# What a transition does to the hierarchy: one operation, or several as one.
Operations = Mapping[str, Any] | Sequence[Mapping[str, Any]]
# What only a request may say that waits for its turn.
TURN_FIELDS = ("whenBusy", "unmet")


class TransitionOptions(TypedDict, total=False):
    """What may be asked of a transition; everything has a default. Durations are seconds.

    The names are those of the wire in snake case, and so are the values. `operations` are several as one, in place of `operation`. A participant may also be the name of its client,
    and `coalesce` the key. `interruptible` is the wire's object, with `by`, or `False`,
    and `scope` may be its `{"anyOf": [...]}`. `start` never waits, and ignores `when_busy`
    and `unmet`; what waits for a state (`unmet="wait"`) has `queue_seconds`.
    """

    operation: Mapping[str, Any]
    operations: Sequence[Mapping[str, Any]]
    scope: Literal["scene", "operation"] | list[str] | Mapping[Literal["anyOf"], list[str]]
    mode: Literal["exclusive", "shared"]
    priority: int
    when_busy: Literal["wait", "interrupt"]
    interruptible: Mapping[str, Any] | Literal[False]
    expect: list[Mapping[str, Any]]
    unmet: Literal["reject", "wait"]
    animation: Mapping[str, Any]
    interactive: bool
    policy: Mapping[str, Any]
    participants: list[str | Mapping[str, Any]]
    ready_seconds: float
    on_unready: Literal["proceed", "abort"]
    ignore_guards: bool
    note: str
    lease_seconds: float
    max_hold_seconds: float
    on_expiry: Literal["discard", "complete"]
    ticket_seconds: float
    queue_seconds: float
    coalesce: str | Mapping[str, Any]
    client: str


def wire_name(name: str) -> str:
    """`lease_seconds` as the wire has it: `leaseSeconds`."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def wire_fields(options: TransitionOptions) -> Document:
    """The options as members of a request.

    Raises `TypeError` for an option that does not exist, and `TypeError` or `ValueError` for what can be no duration.
    """
    for name, value in options.items():
        if name not in TransitionOptions.__annotations__:
            raise TypeError(f"There is no option {name} here")
        if name.endswith("_seconds"):
            checked_seconds(name, value)
    if options.get("lease_seconds") == 0:
        raise ValueError("lease_seconds is more than 0")
    animation = options.get("animation")
    if isinstance(animation, Mapping) and "duration" in animation:
        checked_seconds("animation duration", animation["duration"])
    fields: Document = {wire_name(name): value for name, value in options.items()}
    if "participants" in fields:
        if isinstance(fields["participants"], (str, Mapping)):
            raise TypeError("participants is a list")
        fields["participants"] = [{"client": each} if isinstance(each, str) else each for each in fields["participants"]]
    if isinstance(fields.get("coalesce"), str):
        fields["coalesce"] = {"key": fields["coalesce"]}
    return fields


def not_idle(scene: Document) -> str:
    """Why a scene is not idle."""
    if "idleFor" in scene:
        return f"it has been idle for {scene['idleFor']} s only"
    if busy := scene.get("busy"):
        return "busy: " + ", ".join(f"{each.get('client', 'somebody')} ({each['id']})" for each in busy)
    return f"{scene['runningCount']} run in it, and {scene['queuedCount']} wait"


def is_late(error: ArbiterError) -> bool:
    """Whether a position came after the decision or the end."""
    if isinstance(error, TransitionEnded):
        return error.outcome in ("completed", "cancelled")
    return isinstance(error, Refused) and error.code == "already-decided"


def has_ended(transition: Document) -> bool:
    return transition.get("state") == "ended"


class Ticket:
    """A request on its way, so that it can be given up at any moment."""

    def __init__(self, scene: str, options: TransitionOptions) -> None:
        self.key = secrets.token_hex(16)
        # A copy, because the key stands for the same request only. What is no JSON is the caller's TypeError now.
        self.body: Document = json.loads(json_of({**wire_fields(options), "scene": scene}))
        self.headers: dict[str, str] = {}
        self.asked: tuple[str, Document] | None = None
        """The path and the body of the request, as soon as it may have arrived."""
        self.document: Document = {}
        self.is_animated = True
        self.heard = 0.0
        """When the newest request was sent that `held_until` is from."""
        self.held_until = 0.0
        """Until when the lease certainly lasts, by `now`."""
        self.finger = Finger()
        self.decision: Literal["finish", "cancel"] | None = None
        """How its gesture was decided: it ends as that was."""
        self.is_given_up = False
        """Whether nobody will hold it any more, so that its keeper has to end it."""

    @property
    def lease(self) -> float:
        """How long its lease lasts, in seconds."""
        return float(self.document.get("leaseSeconds", LEASE))

    @property
    def shown(self) -> Document:
        """The transition as the daemon last showed it, without its token."""
        return {name: value for name, value in self.document.items() if name != "token"}

    def check_nesting(self) -> None:
        """Raises `BlockedBySelf` in the body of a transition that is in its way."""
        if not _bodies.running().isdisjoint(self.document.get("blockers", ())):
            raise BlockedBySelf(self.shown)

    @property
    def ignored(self) -> Document:
        """The answer to a position that is not newer than what is known."""
        return {**self.shown, "applied": False}

    def note(self, answer: Answer) -> None:
        """Takes in what the daemon says of the transition; its token is in the first answer only."""
        self.document = {**answer.document(), "token": self.document.get("token")} if self.document else answer.document()
        if answer.sent < self.heard:
            return  # An answer may come after that to a later request.
        self.heard = answer.sent
        self.held_until = answer.sent + float(self.document.get("leaseRemaining", self.lease))

    def may_wait_after(self, error: BaseException) -> bool:
        """Whether it may wait or run at the daemon after an error, so that it has to be given up."""
        if isinstance(error, Refused):
            return error.status == 503 or bool(self.document)
        return not isinstance(error, TransitionEnded)

    def named(self, **fields: Any) -> Document:
        """A body that names the transition with its token."""
        return {"id": self.document["id"], "token": self.document["token"], **fields}


def refused_end(ticket: Ticket, refused: Refused) -> Document:
    """The transition as it has to be taken for lost, because the daemon answered and refused to keep it."""
    is_forgotten = refused.code == "unknown-transition"
    return {
        **ticket.shown, "state": "ended", "outcome": "expired", "code": refused.code,
        "reason": "forgotten" if is_forgotten else refused.code,
        "detail": "the daemon no longer knows the transition (forgotten)" if is_forgotten else refused.detail,
    }


def checked_timeout(timeout: float | None) -> None:
    """Raises `TypeError` or `ValueError` for what can be no duration; `None` is for ever."""
    if timeout is not None:
        checked_seconds("timeout", timeout)


class Flows:
    """The flows of one client, which share its session."""

    def __init__(
        self, client: str | None, token: str | None, patience: float, headers: Mapping[str, str] | None, closing: Flag
    ) -> None:
        checked_seconds("patience", patience)
        self.client = client
        self.patience = patience
        authorization = {} if token is None else {"Authorization": f"Bearer {token.strip()}"}
        self.headers = checked_headers({**(headers or {}), **authorization})
        self._closing = closing
        self._session: str | None = None
        self._has_spoken = False
        """Whether the daemon has answered, or it was said that it does not."""
        self._opening_failed = (0.0, "")
        """When the daemon could not be reached last for a session, and why."""
        self._lock = threading.Lock()
        self._process: int | None = None
        """Which process has used the client; `None` before its first use, so that it may be made before a fork."""

    @property
    def is_closed(self) -> bool:
        return self._closing.is_set()

    @property
    def is_forked(self) -> bool:
        """Whether this process is a child of that of the client, with copies of its connections and locks."""
        return self._process is not None and self._process != os.getpid()

    def check_process(self) -> None:
        """Raises `RuntimeError` in a child of the process that the client belongs to."""
        self._process = self._process or os.getpid()
        if self.is_forked:
            raise RuntimeError(
                f"This client was used by process {self._process}, which has forked this one: make another client after the fork")

    def check_open(self) -> None:
        """Raises `Closed` after the client has been closed."""
        if self.is_closed:
            raise Closed("The client has been closed")

    # Asking

    def ask(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, *,
        headers: Mapping[str, str] | None = None, timeout: float = LONGEST_ANSWER, wait: float | None = None,
        room_until: float = 0.0,
    ) -> Flow[Answer]:
        """Sends a request until there is an answer, or `patience` seconds are over in which there should have been one.

        It may arrive several times, so it must be one that does the same then, by its nature or by its idempotency key. If it
        waits for something, the daemon parks it for so many seconds. Until `room_until`, by `now`, a daemon without room is asked
        again too.
        """
        began = now()
        deadline = began + (wait or 0.0) + self.patience
        if wait is not None:
            timeout = wait + MARGIN
        # If the connection of what is parked is cut, its place is kept for two seconds.
        for delay in backoff() if wait is None else backoff(LONGEST_DELAY):
            self.check_open()
            after = 0.0
            try:
                answer = yield Send(method, path, body, {**self.headers, **(headers or {})}, timeout)
            except Unreachable as error:
                if now() >= deadline:
                    raise
                self.unheard(error, began, deadline)
            else:
                self._has_spoken = True
                self.check_open()
                after = answer.retry_after
                waits = answer.passes or (answer.is_out_of_room and now() + after < room_until)
                if not waits:
                    return answer
                if now() >= deadline or now() + after > deadline:
                    return answer
            # The last attempt is made when the patience is over.
            yield Sleep(min(max(delay, after), max(0.0, deadline - now())))
        raise AssertionError("the delays never end")

    def unheard(self, error: Unreachable, began: float, deadline: float) -> None:
        """Says that the daemon has not answered yet: once, and never if it has answered before."""
        if self._has_spoken or now() - began < SILENCE_BEFORE_WORDS:
            return
        self._has_spoken = True
        LOG.warning("%s; it is asked for %d s more", error, deadline - now())

    # Sessions

    def session(self, called: float = float("inf")) -> Flow[str]:
        """The token of the session, which is opened if there is none.

        Who called, by `now`, while another call could not reach the daemon has waited in vain for as long.
        """
        if self._session is None:
            if self._opening_failed[0] > called:
                raise Unreachable(self._opening_failed[1])
            body = {} if self.client is None else {"client": self.client}
            try:
                answer = yield from self.ask("POST", "/sessions", body, room_until=float("inf"))
            except Unreachable as error:
                self._opening_failed = (now(), str(error))
                raise
            opened = str(answer.document()["token"])
            with self._lock:
                # Another call may have opened one meanwhile. This one, which nothing is bound to, ends by itself.
                self._session = self._session or opened
                return self._session
        return self._session

    def end_session(self) -> Flow[None]:
        """Ends the session, and with it everything bound to it."""
        token, self._session = self._session, None
        if token is not None:
            yield Send("POST", "/sessions/end", None, {**self.headers, SESSION: token}, MARGIN)

    def _forget_session(self, token: str) -> None:
        if self._session == token:
            self._session = None

    def _in_session(self, ask: Callable[[str], Flow[Answer]]) -> Flow[Answer]:
        """Asks something of the session, whose token `ask` is called with; a session that has ended is replaced once."""
        token = yield from self.session()
        answer = yield from ask(token)
        if self._session_is_over(answer):
            self._forget_session(token)
            answer = yield from ask((yield from self.session()))
        return answer

    def _asked_in_session(self, path: str, ticket: Ticket, body: Document, room_until: float = 0.0) -> Flow[Answer]:
        """Asks for a transition that is bound to the session."""

        def ask(token: str) -> Flow[Answer]:
            ticket.headers = {SESSION: token, "Idempotency-Key": ticket.key}
            ticket.asked = path, body
            return self.ask("POST", path, body, headers=ticket.headers, timeout=MARGIN, room_until=room_until)

        return self._in_session(ask)

    @staticmethod
    def _session_is_over(answer: Answer) -> bool:
        return answer.status == 401 and answer.body.get("field") == SESSION

    # Turns

    def start(self, ticket: Ticket) -> Flow[Document | None]:
        """Tries at once: the transition, or nothing if another one is in the way."""
        body = {name: value for name, value in ticket.body.items() if name not in TURN_FIELDS}
        answer = yield from self._asked_in_session("/transitions/start", ticket, body)
        try:
            ticket.note(answer)
        except Refused as refused:
            if refused.code == "busy":
                return None
            raise
        while ticket.document["state"] == "preparing":
            yield from self._await_running(ticket, LONGEST_WAIT)
        return (yield from self._granted(ticket))

    def serialize(
        self, ticket: Ticket, timeout: float | None, waiting: Callable[[Document], None] | None, wait_for_self: bool
    ) -> Flow[Document | None]:
        """Waits for the turn: the running transition.

        `waiting` is called with the ticket whenever the daemon says that it still waits.

        Raises `TimedOut` if the turn did not come in time, `TransitionEnded` if it ended before it ran, except if there was
        nothing to do, and `BlockedBySelf`.
        """
        deadline = float("inf") if timeout is None else now() + timeout

        def wait() -> float:
            return max(0.0, min(LONGEST_WAIT, deadline - now()))

        # Until the ticket has an id there is nothing to wait with.
        body = {**ticket.body, "wait": 0}
        answer = yield from self._asked_in_session("/transitions/serialize", ticket, body, room_until=deadline)
        ticket.note(answer)
        if not wait_for_self:
            ticket.check_nesting()
        while ticket.document["state"] in ("queued", "preparing"):
            if waiting is not None:
                waiting(ticket.shown)
            if wait() == 0:
                raise TimedOut(f"The turn in {ticket.body['scene']} did not come within {timeout} s")
            yield from self._await_running(ticket, wait())
        return (yield from self._granted(ticket))

    def _await_running(self, ticket: Ticket, wait: float) -> Flow[None]:
        # So that a client which is gone, and whose connections a proxy keeps, holds the lock for seconds only.
        body = ticket.named(until="running", claim=True, wait=wait)
        answer = yield from self.ask("POST", "/transitions/await", body, headers=ticket.headers, wait=wait)
        ticket.note(answer)

    def _granted(self, ticket: Ticket) -> Flow[Document]:
        """The granted transition, of whose lease at least a half is certainly left."""
        is_unclaimed = ticket.document.get("leaseRemaining", ticket.lease) < ticket.lease
        if not has_ended(ticket.document) and (is_unclaimed or ticket.held_until - now() < ticket.lease / 2):
            # The answer to a request that was parked for long says nothing about when it was given; and a grant is to be claimed.
            yield from self._await_running(ticket, 0)
        if has_ended(ticket.document) and not ticket.document.get("noop"):
            raise TransitionEnded(ticket.shown)
        return ticket.document

    def give_up(self, ticket: Ticket) -> Flow[None]:
        """Takes back what was asked, wherever it was cut off; after `close`, it ends with the session."""
        if self.is_closed:
            return
        if not ticket.document:
            if ticket.asked is None:
                return
            # The request may have arrived: the same one with the same key leads to what it made.
            answer = yield from self._last_words(Send("POST", *ticket.asked, {**self.headers, **ticket.headers}, MARGIN))
            if answer.status >= 400:
                return
            ticket.note(answer)
        if not has_ended(ticket.document):
            for outcome in [{"outcome": "cancelled"}, {}]:
                body = ticket.named(**outcome)
                answer = yield from self._last_words(Send("POST", "/transitions/end", body, self.headers, MARGIN))
                # One whose gesture was decided ends as that was.
                if answer.body.get("code") != "already-decided":
                    break

    def _last_words(self, send: Send) -> Flow[Answer]:
        """Sends a request, and once more if the connection was cut: one that is kept open may have been cut before."""
        try:
            return (yield send)
        except Unreachable:
            return (yield send)

    def keep(
        self, ticket: Ticket, is_over: Callable[[], bool], interrupt: Callable[[Document], None]
    ) -> Flow[Document | None]:
        """Keeps a granted transition until it has ended: its last document, or nothing if its lease may have run out.

        An owner's await is parked always, so the lease does not run, and the end is told at once. It is answered within a
        sixth of the lease, so that two thirds of the lease are left at any time. After a failure the next one is not parked,
        and they follow each other the faster, the less is left of the lease, which is counted from the sending of the last one
        that was answered. If no such one was asked shortly before its end, this process was stopped, the machine slept, or it
        ends now by `max_hold_seconds`: then the daemon is asked once more.

        `is_over` says whether its owner ends it, or has lost it; then it is not kept any longer. `interrupt` is called with its
        interruption, when that is heard of. One that is given up is ended here, when the next answer comes.
        """
        lease = ticket.lease
        longest = min(lease / 6, LONGEST_WAIT)
        margin = min(MARGIN, max(KEEPING_MARGIN, lease / 6))
        headers = {**self.headers, **ticket.headers}
        wait, delays = longest, backoff(LONGEST_DELAY)
        asked, is_last = float("-inf"), False
        while not (is_over() or ticket.is_given_up or is_last):
            left = ticket.held_until - now()
            if left <= 0:
                if now() - asked <= margin:
                    break
                wait, is_last = 0.0, True
            delay = next(delays)
            # The less is left, the shorter are the asks; but each is long enough for a slow network.
            timeout = margin if is_last else min(left, wait + margin if wait else min(MARGIN, max(margin, left / 2)))
            # One that is cut short by the end of the lease says nothing.
            if wait == 0 and timeout >= margin / 2:
                asked = now()
            try:
                answer = yield Send("POST", "/transitions/await", ticket.named(until="ended", wait=wait), headers, timeout)
            except (Unreachable, Refused):
                pass  # Refused is an answer that cannot be read.
            else:
                if answer.decides:
                    try:
                        document = answer.document()
                    except Refused as refused:
                        # Without the token of its session, which has ended, the daemon says what became of it.
                        if self._session_is_over(answer) and headers.pop(SESSION, None) is not None:
                            asked, is_last = float("-inf"), False
                            continue
                        # The daemon does not know it any more, or says how it ended.
                        return refused.problem.get("transition") or refused_end(ticket, refused)
                    if has_ended(document):
                        return document
                    ticket.held_until = answer.sent + float(document.get("leaseRemaining", lease))
                    if "interruption" in document:
                        interrupt(document["interruption"])
                    wait, delays = longest, backoff(LONGEST_DELAY)
                    asked, is_last = float("-inf"), False
                    continue
                delay = max(delay, answer.retry_after)
            wait = 0.0
            yield Sleep(max(0.0, min(ticket.held_until - now(), max(SHORTEST_DELAY, min(delay, left / 4)))))
        if ticket.is_given_up:
            try:
                yield from self.give_up(ticket)
            except (Unreachable, Refused):
                pass  # Nobody keeps it any longer.
        return None

    def end(self, ticket: Ticket, outcome: str | None) -> Flow[Document]:
        """Ends a transition, without an outcome as its gesture was decided; again with the same outcome is fine.

        Raises `TransitionEnded` if it has ended otherwise, or the daemon does not know it any more.
        """
        body = ticket.named(outcome=outcome) if outcome else ticket.named()
        return (yield from self._act("end", ticket, body)).document()

    def perform(self, ticket: Ticket, operation: Operations, expect: Any, ignore_guards: bool) -> Flow[Document]:
        """Gives a transition the operation, or the list of them, that it was begun without.

        Raises `TransitionEnded` as `end` does.
        """
        asked: Document = {"operation" if isinstance(operation, Mapping) else "operations": operation}
        if expect is not None:
            asked["expect"] = expect
        if ignore_guards:
            asked["ignoreGuards"] = True
        body = ticket.named(**asked)
        answer = yield from self._act("perform", ticket, body)
        if answer.document().get("noop"):
            return answer.document()  # It still has no operation, and runs.
        ticket.note(answer)
        return ticket.shown

    def update(self, ticket: Ticket, animation: Mapping[str, Any]) -> Flow[Document]:
        """Changes how a transition is animated. Raises `TransitionEnded` as `end` does."""
        answer = yield from self._act("update", ticket, ticket.named(animation=animation))
        ticket.note(answer)
        return ticket.shown

    def _act(self, call: str, ticket: Ticket, body: Document) -> Flow[Answer]:
        answer = yield from self.ask("POST", f"/transitions/{call}", body, timeout=MARGIN)
        try:
            answer.document()
            return answer
        except Refused as refused:
            if has_ended(refused.problem.get("transition", {})):
                raise TransitionEnded(refused.problem["transition"]) from None
            if refused.code == "unknown-transition":
                raise TransitionEnded(refused_end(ticket, refused)) from None
            raise

    # Gestures

    def check_gesture(self, ticket: Ticket) -> Flow[None]:
        """Raises `BlockedBySelf` in the body of a transition that is in its way, after which it has left the queue."""
        if ticket.document["state"] != "queued":
            return
        try:
            ticket.check_nesting()
        except BlockedBySelf:
            with suppress(ArbiterError):
                yield from self.release(ticket, {"decision": "cancel"})
            raise

    def move(self, ticket: Ticket) -> Flow[Document]:
        """Sends where the finger is, until nothing is newer: the last answer."""
        shown = ticket.ignored
        while (position := ticket.finger.take()) is not None:
            try:
                shown = yield from self._drive(ticket, "progress", position)
            except ArbiterError as error:
                if ticket.finger.is_released or is_late(error):
                    shown = ticket.ignored  # What the release, or an end by its owner, has overtaken does not count.
                elif not ticket.finger.is_ahead:  # Otherwise the next position replaces it.
                    raise
        return shown

    def release(self, ticket: Ticket, given: Mapping[str, Any]) -> Flow[Document]:
        """Says that the finger has left: the decision."""
        if ticket.document and ticket.document.get("noop"):
            return ticket.shown  # There was nothing to do, and so nothing is decided.
        try:
            released = yield from self._drive(ticket, "release", ticket.finger.release(given))
        except ArbiterError:
            ticket.finger.stay()
            raise
        ticket.decision = released["decision"]
        return released

    def _drive(self, ticket: Ticket, call: str, fields: Mapping[str, Any]) -> Flow[Document]:
        given = {wire_name(name): value for name, value in fields.items() if value is not None}
        return (yield from self._act(call, ticket, ticket.named(**given))).document()

    def ready(self, id: str) -> Flow[Document]:
        """Says that this client is ready for a transition in which it takes part."""
        return (yield from self._report({"id": id}))

    def veto(self, id: str, reason: str | None) -> Flow[Document]:
        """Says that a transition in which this client takes part must not run."""
        return (yield from self._report({"id": id, "ready": False, **({} if reason is None else {"reason": reason})}))

    def _report(self, body: Mapping[str, Any]) -> Flow[Document]:
        answer = yield from self._in_session(
            lambda token: self.ask("POST", "/transitions/ready", body, headers={SESSION: token}))
        return answer.document()

    def add_guard(self, scene: str, controllers: Iterable[str], on_silence: str) -> Flow[Document]:
        """Wants to be asked before controllers are removed."""
        if isinstance(controllers, str):
            raise TypeError("controllers is a list")
        body = {"controllers": list(controllers), "onSilence": on_silence}
        answer = yield from self._in_session(
            lambda token: self.ask("POST", self.scene_path(scene, "/guards"), body, headers={SESSION: token}))
        return answer.document()

    def remove_guard(self, scene: str, id: str) -> Flow[None]:
        """Takes a guard back; nothing if it has ended."""
        path = self.scene_path(scene, f"/guards/{quote(checked_id('The id', id), safe='')}")
        answer = yield from self._in_session(lambda token: self.ask("DELETE", path, headers={SESSION: token}))
        if answer.body.get("code") not in ("not-found", "unknown-scene"):
            answer.document()

    # What there is

    def transition(self, id: str) -> Flow[Document]:
        checked_id("The id", id)
        return (yield from self.ask("GET", f"/transitions/{quote(id, safe='')}")).document()

    def revoke(self, id: str, reason: str) -> Flow[Document]:
        return (yield from self.ask("POST", "/transitions/revoke", {"id": id, "reason": reason})).document()

    def revoke_all(self, scene: str, reason: str, client: str | None) -> Flow[list[str]]:
        """Ends the unfinished transitions of a scene, or those of a client: their ids."""
        body = {"scene": scene, "reason": reason, **({} if client is None else {"client": client})}
        # Repeated, it would end what was asked for in between.
        answer = yield Send("POST", "/transitions/revoke", body, self.headers, LONGEST_ANSWER)
        revoked: list[str] = answer.document()["revoked"]
        return revoked

    def transitions(self, limit: int, query: Mapping[str, str | None]) -> Flow[list[Document]]:
        """The newest transitions, oldest first.

        Raises `TypeError` or `ValueError` for what can be no limit.
        """
        if isinstance(limit, bool) or not isinstance(limit, int):
            raise TypeError(f"limit is an integer, not {type(limit).__name__}")
        if limit < 1:
            raise ValueError("limit is 1 or more")
        found: list[Document] = []
        # Each page is older than the one before.
        path: str | None = self.page("/transitions", limit, query)
        while path is not None and len(found) < limit:
            answer = yield from self.ask("GET", path)
            found[:0] = answer.document()["transitions"]
            path = answer.next
        return found[max(0, len(found) - limit):]

    def scenes(self) -> Flow[list[Document]]:
        found: list[Document] = []
        path: str | None = self.page("/scenes", LONGEST_PAGE, {})
        while path is not None:
            answer = yield from self.ask("GET", path)
            found += answer.document()["scenes"]
            path = answer.next
        return found

    @staticmethod
    def page(path: str, limit: int, query: Mapping[str, str | None]) -> str:
        given = {name: value for name, value in query.items() if value is not None}
        return f"{path}?{urlencode({**given, 'limit': min(limit, LONGEST_PAGE)})}"

    # Scenes

    @staticmethod
    def scene_path(scene: str, rest: str = "") -> str:
        return f"/scenes/{quote(checked_id('The name of a scene', scene), safe='')}{rest}"

    def read(self, scene: str) -> Flow[Document]:
        answer = yield from self.ask("GET", self.scene_path(scene))
        return answer.document()

    def controller(self, scene: str, id: str) -> Flow[Document]:
        checked_id("The id", id)
        answer = yield from self.ask("GET", self.scene_path(scene, f"/controllers/{quote(id, safe='')}"))
        return answer.document()

    def until_idle(
        self, scene: str, controller: str | None, quiet: float, timeout: float | None
    ) -> Flow[Document]:
        """Waits until nothing in the scene, or below a controller, is unfinished, and has not been for `quiet` seconds.

        Raises `TimedOut`.
        """
        part = {} if controller is None else {"controller": checked_id("The id", controller)}
        # Of a part, the time of quiet begins with each request.
        longest = LONGEST_WAIT if controller is None else min(quiet + LONGEST_WAIT, MOST_WAIT)
        deadline = float("inf") if timeout is None else now() + timeout
        while True:
            wait = max(0.0, min(longest, deadline - now()))
            query = urlencode({**part, "until": "idle", "quietSeconds": f"{quiet:.3f}", "wait": f"{wait:.3f}"})
            answer = yield from self.ask("GET", self.scene_path(scene, f"/await?{query}"), wait=wait)
            found = answer.document()
            if found["idle"]:
                return found
            if now() >= deadline:
                raise TimedOut(f"{controller or scene} was not idle in time: {not_idle(found)}")

    def until_controller(
        self, scene: str, id: str, is_: Condition | None, not_: Condition | None, timeout: float | None
    ) -> Flow[Document]:
        """Waits until a controller is so, or is not so any more.

        Raises `TimedOut`.
        """
        checked_id("The id", id)
        if (is_ is None) == (not_ is None):
            raise TypeError("Either is_ or not_ is given")
        deadline = float("inf") if timeout is None else now() + timeout
        asked = {"is": is_} if not_ is None else {"not": not_}
        while True:
            wait = max(0.0, min(LONGEST_WAIT, deadline - now()))
            query = urlencode({**asked, "wait": f"{wait:.3f}"})
            path = self.scene_path(scene, f"/controllers/{quote(id, safe='')}/await?{query}")
            found = (yield from self.ask("GET", path, wait=wait)).document()
            if found["holds"]:
                return found
            if now() >= deadline:
                raise TimedOut(f"{id} in {scene} was {'not ' if not_ is None else 'still '}{is_ or not_} in time")

    def dry_run(self, scene: str, call: str, options: TransitionOptions) -> Flow[Document]:
        """Says what would come of a request now."""
        if call not in ("start", "serialize"):
            raise ValueError("The call of a dry run is start or serialize")
        body = {**wire_fields(options), "scene": scene}
        if call == "start":
            for name in TURN_FIELDS:
                body.pop(name, None)
        return (yield from self.ask("POST", f"/transitions/{call}?dryRun=true", body)).document()

    def declare(
        self, scene: str, storyboard: Mapping[str, Any], if_undeclared: bool, dry_run: bool
    ) -> Flow[Document | None]:
        headers = {"If-None-Match": "*"} if if_undeclared else {}
        path = self.scene_path(scene, "/storyboard?dryRun=true" if dry_run else "/storyboard")
        answer = yield from self.ask("PUT", path, storyboard, headers=headers)
        try:
            return answer.document()
        except Refused as refused:
            if if_undeclared and refused.code == "already-declared":
                return None
            raise

    def patch_storyboard(self, scene: str, changes: Mapping[str, Any]) -> Flow[Document]:
        return (yield from self.ask("PATCH", self.scene_path(scene, "/storyboard"), changes)).document()

    def hierarchy(self, scene: str) -> Flow[Document]:
        """The document of a scene with its hierarchy, and the number of the last event that it includes."""
        try:
            return (yield from self.read(scene))
        except Refused as refused:
            if refused.code == "unknown-scene":
                return {"revision": 0, "lastEvent": 0}
            raise

    def hierarchy_again(self, scene: str, is_over: Callable[[], bool]) -> Flow[Document | None]:
        """The same, as often as it takes; nothing if it is over before."""
        delays = backoff()
        while not is_over():
            try:
                return (yield from self.hierarchy(scene))
            except (Unreachable, Refused) as error:
                if isinstance(error, Refused) and error.status not in (429, 503):
                    raise
            yield Sleep(next(delays))
        return None

    def refuse_stream(self, answer: Answer, session: str | None) -> None:
        """Raises `Refused` if a stream is refused for good; otherwise another attempt is due."""
        if session is not None and self._session_is_over(answer):
            self._forget_session(session)
        elif answer.status not in (429, 503):
            answer.document()
