"""What clients saw, and whether an arbiter that keeps its promises (docs/promises.md) can have answered so.

A call without an answer is indeterminate: it may have taken effect at any time after it was sent, or not at all. Every
transition has the scope `scene`. Times are seconds on one monotonic clock.
"""

import bisect
import hashlib
import json
import threading
import zlib
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

NEVER = float("inf")
RANKS = {"queued": 0, "preparing": 1, "running": 1, "ended": 2}
# What a refusal says of the transition that is in the way.
UNFINISHED = "unfinished"
# There was no connection, so nothing was sent.
UNREACHED = "unreached"
# No call of its own: the session of a transition was ended, and with it the transition.
SESSION_ENDED = "session-ended"
# Refusals which say that nothing of the request was carried out.
NOTHING_DONE = {"not-owner", "draining", "out-of-room", UNREACHED}


def shard_of(scene: str, shards: int) -> int:
    """The shard of a scene, as docs/cluster.md says."""
    return (zlib.crc32(scene.encode()) & 0x3FFF) * shards // 16384


@dataclass(slots=True, frozen=True)
class Transition:
    """The state of a transition in an answer."""

    id: str
    state: str
    token: str | None = None
    fence: int | None = None
    # With its reason, such as `expired/lease`.
    outcome: str | None = None
    lease: float = 10
    # What was left of the lease, if the answer says so.
    remaining: float | None = None
    end_requested: bool = False

    @staticmethod
    def of(body: object) -> "Transition | None":
        if not isinstance(body, dict) or "id" not in body or "state" not in body:
            return None
        outcome = body.get("outcome")
        if outcome and body.get("reason"):
            outcome = f"{outcome}/{body['reason']}"
        return Transition(
            body["id"], body["state"], body.get("token"), body.get("fence"), outcome, body.get("leaseSeconds", 10),
            body.get("leaseRemaining"), bool(body.get("endRequested")))


@dataclass(slots=True)
class Call:
    """A call as its client saw it."""

    # start, serialize, await, renew, end: of the owner; look: of anybody.
    kind: str
    scene: str
    sent: float
    answered: float
    status: int | None = None
    code: str | None = None
    seen: Transition | None = None
    id: str | None = None
    key: str | None = None
    # What an end asks for.
    outcome: str | None = None
    # Whether the same key was sent before.
    is_repeated: bool = False
    client: str = ""
    node: str = ""
    # What a 503 says to people.
    detail: str | None = None

    @property
    def subject(self) -> str | None:
        return self.id or (self.seen.id if self.seen else None)

    @property
    def is_known(self) -> bool:
        """Whether the answer says something that can be relied on."""
        return self.status is not None and self.status != 503

    @property
    def is_uncertain(self) -> bool:
        """Whether it may or may not have been carried out."""
        return not self.is_known and self.code not in NOTHING_DONE and self.code != SESSION_ENDED


@dataclass(slots=True, frozen=True)
class Event:
    scene: str
    number: int
    name: str
    digest: bytes
    id: str | None = None
    fence: int | None = None
    outcome: str | None = None

    @staticmethod
    def of(scene: str, number: int, name: str, data: str) -> "Event":
        seen = Transition.of(json.loads(data)) if name.startswith("transition.") else None
        digest = hashlib.blake2b(f"{name}\n{data}".encode(), digest_size=8).digest()
        return Event(scene, number, name, digest, *((seen.id, seen.fence, seen.outcome) if seen else ()))


class Events:
    """The events that all followers heard, each told once and with one content."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.heard: dict[str, dict[int, Event]] = defaultdict(dict)
        # Scenes of which a follower has missed something, as `reset` says.
        self.reset: set[str] = set()
        self.count = 0
        self.violations: list[str] = []

    def add(self, event: Event, follower: str) -> None:
        with self._lock:
            self.count += 1
            other = self.heard[event.scene].setdefault(event.number, event)
            if other.digest != event.digest:
                self.violations.append(
                    f"event {event.number} of {event.scene} is {event.name} for {follower}, and was {other.name} "
                    f"({event}, {other})")

    def check(self) -> list[str]:
        """What the events of each scene say in the order of their numbers."""
        found = list(self.violations)
        for scene, events in self.heard.items():
            running: str | None = None
            ended: set[str] = set()
            fence, last = 0, None
            for number in sorted(events):
                event = events[number]
                if last is not None and number != last + 1:
                    running = None
                last = number
                if event.name == "transition.running":
                    if running:
                        found.append(f"{event.id} runs in {scene} at event {number}, while {running} does")
                    if event.fence is not None and event.fence <= fence:
                        found.append(f"{event.id} gets fence {event.fence} in {scene} after {fence}")
                    running, fence = event.id, event.fence or fence
                elif event.name == "transition.ended":
                    if event.id in ended:
                        found.append(f"{event.id} ends twice in the events of {scene}")
                    ended.add(event.id or "")
                    if running == event.id:
                        running = None
        return found


class Follower:
    """How the numbers of one follower of a scene have to go on."""

    def __init__(self, name: str, scene: str, events: Events) -> None:
        (self.name, self.scene, self.events) = (name, scene, events)
        self.last: int | None = None

    def hear(self, number: int | None, name: str, data: str) -> None:
        if number is None:
            return
        if name == "reset":
            if self.last is not None and number < self.last:
                self.complain(f"is reset to {number}, and had heard {self.last}")
            self.events.reset.add(self.scene)
            self.last = number
            return
        if self.last is not None and number <= self.last:
            self.complain(f"hears {number} after {self.last}")
        elif self.last is not None and number != self.last + 1:
            self.complain(f"hears {number} after {self.last}, without a reset")
        self.last = number
        self.events.add(Event.of(self.scene, number, name, data), self.name)

    def complain(self, what: str) -> None:
        self.events.violations.append(f"the follower {self.name} of {self.scene} {what}")


class Register:
    """What holders write to, with their fences; it refuses lower ones, which no holder with a valid lease has."""

    def __init__(self, clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._highest: dict[str, int] = defaultdict(int)
        self.writes = 0
        self.refusals = 0
        self.violations: list[str] = []

    def write(self, scene: str, fence: int, believed_until: float, holder: str) -> bool:
        with self._lock:
            # Under the lock, so that nobody writes between the look at the clock and that at the fence.
            believes = self._clock() < believed_until
            highest = self._highest[scene]
            if fence < highest:
                self.refusals += 1
                if believes:
                    self.violations.append(
                        f"{holder} was refused in {scene} with fence {fence} after {highest}, and its lease is valid "
                        f"for {believed_until - self._clock():.3f} s")
                return False
            if believes:
                self._highest[scene] = fence
                self.writes += 1
            return True


@dataclass(slots=True)
class Known:
    """What all calls together reveal about a transition."""

    id: str
    scene: str
    fences: set[int] = field(default_factory=set)
    outcomes: dict[str, Call] = field(default_factory=dict)
    tokens: set[str] = field(default_factory=set)
    # When its request was first sent.
    asked: float | None = None
    # When an answer first showed that it is queued or granted.
    told: float | None = None
    # The last instant at which it was certainly not granted yet.
    waited: float | None = None
    # When its owner first learned that it runs.
    runs: float | None = None
    # Until when its owner believes in its lease.
    believed: float = 0
    end_sent: float = NEVER
    client: str = ""

    @property
    def fence(self) -> int | None:
        return next(iter(self.fences)) if len(self.fences) == 1 else None


def believed_until(call: Call) -> float | None:
    """Until when an owner may believe in its lease, as an acknowledged word says."""
    seen = call.seen
    if call.kind not in ("start", "serialize", "await", "renew") or not call.is_known or not seen:
        return None
    if seen.state not in ("running", "preparing"):
        return None
    # To ask again with a key may be no word; then only what the answer says is left counts.
    lease = seen.lease if not call.is_repeated else min(seen.lease, seen.remaining or 0)
    return call.sent + lease


def admitted_without_room(calls: Iterable[Call], since: float, until: float) -> list[str]:
    """What was admitted while etcd had no room for it, all of that time."""
    return [f"{call.kind} in {call.scene} made {call.subject} at {call.node}, sent {call.sent:.3f} and answered "
            f"{call.answered:.3f}, and etcd had no room from {since:.3f} to {until:.3f}"
            for call in calls
            if call.kind in ("start", "serialize") and call.status in (201, 202) and not call.is_repeated
            and call.sent >= since and call.answered <= until]


def carried_out(call: Call, name: str, found: list[dict]) -> list[str]:
    """What was found of a request that was refused because of the node, and never sent again."""
    if call.code not in NOTHING_DONE or not found:
        return []
    return [f"{call.code} was answered by {call.node} to {call.kind} of {name} in {call.scene} (sent {call.sent:.3f}, "
            f"answered {call.answered:.3f}), and it was carried out: {found}"]


class Session:
    """A session as its client counts on it."""

    # How long the end of a session may take to arrive in another shard, faults included.
    ENDING = 60

    def __init__(self, client: str, sent: float, lives: float) -> None:
        (self.client, self.lives) = (client, lives)
        self.until = sent + lives
        self.ended: float | None = None

    def heard(self, call_sent: float) -> None:
        """A word was acknowledged, in whichever shard."""
        self.until = max(self.until, call_sent + self.lives)

    def gone(self, answered: float) -> list[str]:
        """An answer says that nobody knows the session."""
        if answered >= self.until:
            return []
        return [f"the session of {self.client} is gone at {answered:.3f}, and was valid until {self.until:.3f}"]

    def outlived(self, id: str, scene: str, seen: Transition | None, answered: float) -> list[str] | None:
        """What a transition seen after the end of the session says; `None` if it has to be looked at again."""
        if not seen or seen.state == "ended" or seen.end_requested:
            return []
        if answered <= self.ended + self.ENDING:
            return None
        return [f"{id} in {scene} is {seen.state} {self.ENDING} s after its session of {self.client} has ended"]


def unheard(calls: Iterable[Call], events: Events, followed: set[str]) -> list[str]:
    """Acknowledged ends that followers which heard everything have not heard.

    `followed` are the scenes whose followers have read all that there is.
    """
    followed = followed - events.reset
    heard = {event.id for numbered in events.heard.values() for event in numbered.values()
             if event.name == "transition.ended"}
    # The first events of a scene may come before its followers.
    whole = {scene for scene, numbered in events.heard.items() if scene in followed and min(numbered, default=0) == 1}
    return [f"no follower of {call.scene} has heard of the end of {call.id}, acknowledged at {call.answered:.3f} by "
            f"{call.node}"
            for call in calls
            if call.kind == "end" and call.status == 200 and call.scene in whole and call.id not in heard
            and call.seen and call.seen.state == "ended"]


class Checker:
    def __init__(self, calls: Iterable[Call]) -> None:
        self.calls = sorted(calls, key=lambda call: call.answered)
        self.known: dict[str, Known] = {}
        first_sent: dict[str, float] = {}
        for call in self.calls:
            if call.key:
                first_sent[call.key] = min(first_sent.get(call.key, NEVER), call.sent)
        for call in self.calls:
            self._note(call)
            if call.key and call.is_known and call.seen:
                known = self.known[call.seen.id]
                known.asked = first_sent[call.key]
                known.waited = max(known.waited or 0, known.asked)

    def _note(self, call: Call) -> None:
        subject = call.subject
        if subject is None:
            return
        known = self.known.setdefault(subject, Known(subject, call.scene))
        if call.kind == "end":
            # It may have taken effect without an answer.
            known.end_sent = min(known.end_sent, call.sent)
        seen = call.seen
        if not call.is_known or not seen:
            return
        if seen.fence is not None:
            known.fences.add(seen.fence)
        if seen.outcome:
            known.outcomes.setdefault(seen.outcome, call)
        if seen.token:
            known.tokens.add(seen.token)
        if seen.state == "queued":
            known.waited = max(known.waited or 0, call.sent)
        if seen.state == UNFINISHED:
            return
        known.told = min(known.told or NEVER, call.answered)
        until = believed_until(call)
        if until is not None:
            known.runs = min(known.runs or NEVER, call.answered)
            known.believed = max(known.believed, until)
            known.client = call.client

    def violations(self) -> list[str]:
        """All contradictions to the promises; none if there are none."""
        return [
            *self.mutual_exclusion(), *self.order(), *self.fences(), *self.outcomes(), *self.idempotency(),
            *self.durability(), *self.acknowledged_ends(), *self.rejected_believers(),
        ]

    def _scenes(self) -> Iterable[tuple[str, list[Known]]]:
        scenes: dict[str, list[Known]] = defaultdict(list)
        for known in self.known.values():
            scenes[known.scene].append(known)
        return sorted(scenes.items())

    def mutual_exclusion(self) -> Iterable[str]:
        """A holder is alone from the answer to its grant until its end was sent, or its lease over by its own count."""
        for scene, records in self._scenes():
            held = sorted((known.runs, min(known.end_sent, known.believed), known.id, known.client)
                          for known in records if known.runs is not None)
            last = None
            for each in held:
                if each[1] <= each[0]:
                    continue
                if last and last[1] > each[0]:
                    yield (f"{last[2]} ({last[3]}) and {each[2]} ({each[3]}) were held at once in {scene}, "
                           f"for {min(last[1], each[1]) - each[0]:.3f} s from {each[0]:.3f}")
                if not last or each[1] > last[1]:
                    last = each

    def order(self) -> Iterable[str]:
        """What was known to be in line before another one was asked for is granted first."""
        for scene, records in self._scenes():
            for earlier, later in inversions(records, "told", "asked"):
                yield (f"{later.id} was granted before {earlier.id} in {scene} ({later.fence} and {earlier.fence}), "
                       "which stood in line before it")

    def fences(self) -> Iterable[str]:
        for scene, records in self._scenes():
            owners: dict[int, str] = {}
            for known in records:
                if len(known.fences) > 1:
                    yield f"{known.id} has the fences {sorted(known.fences)} in {scene}"
                for fence in known.fences:
                    other = owners.setdefault(fence, known.id)
                    if other != known.id:
                        yield f"{other} and {known.id} have the same fence {fence} in {scene}"
            for earlier, later in inversions(records, "runs", "waited"):
                yield f"{later.id} got fence {later.fence} in {scene} after {earlier.id} got {earlier.fence}"

    def outcomes(self) -> Iterable[str]:
        for known in self.known.values():
            if len(known.outcomes) > 1:
                yield f"{known.id} in {known.scene} ended as {sorted(known.outcomes)}"

    def idempotency(self) -> Iterable[str]:
        ids: dict[str, str] = {}
        for call in self.calls:
            if call.key and call.is_known and call.seen:
                other = ids.setdefault(call.key, call.seen.id)
                if other != call.seen.id:
                    yield f"the key {call.key} made {other} and {call.seen.id} in {call.scene}"
        for known in self.known.values():
            if len(known.tokens) > 1:
                yield f"{known.id} has two tokens"

    def durability(self) -> Iterable[str]:
        """What an answer has shown remains true in the answers to requests that are sent later."""
        subjects: dict[str, list[Call]] = defaultdict(list)
        for call in self.calls:
            if call.is_known and call.subject:
                subjects[call.subject].append(call)
        for subject, calls in subjects.items():
            # The highest rank that was answered by an instant.
            instants, ranks = [], []
            for call in calls:
                if call.seen and call.seen.state != UNFINISHED:
                    rank = max(RANKS[call.seen.state], ranks[-1] if ranks else -1)
                    instants.append(call.answered)
                    ranks.append(rank)
            for call in calls:
                place = bisect.bisect_left(instants, call.sent)
                if not place:
                    continue
                if call.seen and RANKS.get(call.seen.state, 1) < ranks[place - 1]:
                    yield (f"{subject} in {call.scene} is {call.seen.state} again for {call.client} "
                           f"({call.kind} at {call.node}, sent {call.sent:.3f}, answered {call.answered:.3f})")
                if call.code == "unknown-transition":
                    yield f"{subject} in {call.scene} was known, and is not any more ({call.node}, {call.sent:.3f})"

    def acknowledged_ends(self) -> Iterable[str]:
        """What an end was acknowledged as, nothing else takes back."""
        for call in self.calls:
            if call.kind != "end" or call.status != 200 or not call.outcome:
                continue
            for outcome, other in self.known[call.id or ""].outcomes.items():
                if outcome != call.outcome:
                    yield (f"the end of {call.id} in {call.scene} as {call.outcome} was acknowledged at "
                           f"{call.answered:.3f}, and it ended as {outcome} ({other.kind} at {other.node}, "
                           f"{other.answered:.3f})")

    def rejected_believers(self) -> Iterable[str]:
        """A lease has not run out as long as its owner rightly believes in it."""
        words: dict[str, float] = {}
        for call in self.calls:
            if not call.subject or call.kind == "look":
                continue
            until = words.get(call.subject, 0)
            # Calls are in the order of their answers: what is in `words` was acknowledged before.
            lapsed = call.seen and call.seen.outcome in ("expired/lease", "expired/unclaimed")
            if call.is_known and lapsed and call.answered < until:
                yield (f"{call.subject} in {call.scene} is {call.seen.outcome} for {call.client} at "
                       f"{call.answered:.3f}, and its lease was valid until {until:.3f}")
            word = believed_until(call)
            if word is not None:
                words[call.subject] = max(until, word)


def inversions(records: list[Known], sooner: str, later: str) -> Iterable[tuple[Known, Known]]:
    """Pairs in which one instant precedes the other, but the fences are in the opposite order."""
    granted = [known for known in records if known.fence is not None]
    first = sorted((known for known in granted if getattr(known, sooner) is not None),
                   key=lambda known: getattr(known, sooner))
    index, highest = 0, None
    for candidate in sorted((known for known in granted if getattr(known, later) is not None),
                            key=lambda known: getattr(known, later)):
        while index < len(first) and getattr(first[index], sooner) < getattr(candidate, later):
            if highest is None or highest.fence < first[index].fence:
                highest = first[index]
            index += 1
        if highest and highest.fence > candidate.fence:
            yield highest, candidate
