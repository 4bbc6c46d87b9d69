"""What one client can do to the others with a daemon that has its default settings.

An attack builds something, yields, and strikes; after `yield` its requests are counted and the victim is measured.
"""

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from measure.attacker import Attacker, stack, start, ticket
from measure.wire import Wire, request

Strike = Callable[[Attacker], Iterator[None]]

# How long the victim is measured where an attack is one request, or none.
AFTERMATH_SECONDS = 2
# From the first of what is due at one instant until then: enough to ask for all of it.
LEASES_DUE_SECONDS = 25
TICKETS_DUE_SECONDS = 10
# How long scenes are visited, at most.
VISITING_SECONDS = 60


def nothing(attacker: Attacker) -> Iterator[None]:
    yield
    time.sleep(attacker.seconds)


def dry_runs(attacker: Attacker) -> Iterator[None]:
    """Tickets with one key and a scope each, with nothing between them; but the last ticket is in the way of a new one."""
    count = attacker.count(3000)
    names = [f"c{number}" for number in range(count)]
    attacker.ask("PUT", "/scenes/attack/storyboard", {"root": stack("root", [*names, "last"])})
    attacker.hold("attack")

    def pair(number: int) -> list[bytes]:
        # They would be coalesced without the second one, which is ended afterwards.
        scope = [names[number]]
        return [ticket("attack", scope=scope, coalesce={"key": "k"}), ticket("attack", scope=scope)]

    built = attacker.build(count, pair, at_once=8)
    attacker.end_all(built[1::2])
    attacker.built = len(built[::2])
    attacker.ask_all([ticket("attack", scope=["last"])])
    yield
    body = {"scene": "attack", "scope": ["last"], "coalesce": {"key": "k"}}
    asked = request("POST", "/transitions/serialize?dryRun=true", body)
    attacker.repeat_on(6, lambda wire, _: len([wire.ask(asked)]))


def two_keys(attacker: Attacker) -> Iterator[None]:
    attacker.hold("attack")

    def tapped(number: int) -> list[bytes]:
        return [ticket("attack", coalesce={"key": "ab"[number % 2]})]

    attacker.build(attacker.count(3500), tapped, at_once=8)
    yield
    # Dry runs, because the queue would be full before the end.
    asked = itertools.cycle(
        request("POST", "/transitions/serialize?dryRun=true", {"scene": "attack", "coalesce": {"key": key}})
        for key in "ab")
    attacker.repeat_on(1, lambda wire, _: len([wire.ask(next(asked))]))


def late_participant(attacker: Attacker) -> Iterator[None]:
    """The only session of a participant for which transitions wait; they wait for 60 seconds at most."""
    session = attacker.open_session("late")
    members = {"participants": ["late"], "readySeconds": 60}
    attacker.build(attacker.count(24_000), lambda number: [start(f"attack-{number}", **members)])
    yield
    attacker.ask("POST", "/sessions/end", fields=session)
    time.sleep(AFTERMATH_SECONDS)


def filed_anew(attacker: Attacker) -> Iterator[None]:
    """Tickets for controllers that the holder brings in: at its end, they wait in other places."""
    names = [f"n{number}" for number in range(64)]
    attacker.ask("PUT", "/scenes/attack/storyboard", {"root": stack("root", ["list"])})
    operation = {"type": "present", "presenter": "root", "controller": stack("new", names)}
    holder = attacker.hold("attack", operation=operation)
    attacker.build(attacker.count(938), lambda _: [ticket("attack", scope=names)], at_once=8)
    yield
    attacker.end_all([holder])
    time.sleep(AFTERMATH_SECONDS)


def leases_due(attacker: Attacker) -> Iterator[None]:
    due = time.monotonic() + attacker.count(LEASES_DUE_SECONDS)
    attacker.build(attacker.count(28_000),
                   lambda number: [start(f"attack-{number}", leaseSeconds=due - time.monotonic())])
    yield
    time.sleep(max(0.0, due - time.monotonic()) + AFTERMATH_SECONDS)


def tickets_due(attacker: Attacker) -> Iterator[None]:
    attacker.hold("attack")
    due = time.monotonic() + attacker.count(TICKETS_DUE_SECONDS)
    attacker.build(attacker.count(9_500), lambda _: [ticket("attack", ticketSeconds=due - time.monotonic())])
    yield
    time.sleep(max(0.0, due - time.monotonic()) + AFTERMATH_SECONDS)


def session_of_transitions(attacker: Attacker) -> Iterator[None]:
    session = attacker.open_session("attacker")
    attacker.build(attacker.count(8_192), lambda number: [start(f"attack-{number}", session)])
    yield
    attacker.ask("POST", "/sessions/end", fields=session)
    time.sleep(AFTERMATH_SECONDS)


def session_of_visits(attacker: Attacker) -> Iterator[None]:
    """A session that has been in many scenes, and has nothing left in them."""
    session = attacker.open_session("attacker")
    at_once, visited = 500, 0
    begun = time.monotonic()
    for first in range(0, attacker.count(40_000), at_once):
        started = attacker.build(at_once, lambda number: [start(f"attack-{first + number}", session)])
        attacker.end_all(started)
        visited += len(started)
        if len(started) < at_once or time.monotonic() - begun > VISITING_SECONDS:
            break
    attacker.built = visited
    yield
    attacker.ask("POST", "/sessions/end", fields=session)
    time.sleep(AFTERMATH_SECONDS)


def traces(attacker: Attacker) -> Iterator[None]:
    at_once = 500
    for first in range(0, attacker.count(10_000), at_once):
        attacker.end_all(attacker.build(at_once, lambda number: [start(f"attack-{first + number}")]))
        attacker.built = first + at_once
    yield
    asked = request("GET", "/trace")
    attacker.repeat_on(16, lambda wire, _: len([wire.ask(asked)]))


def unread_streams(attacker: Attacker) -> Iterator[None]:
    """Streams that begin with a reset of each scene, of which nothing is read."""
    attacker.build(attacker.count(6_000), lambda number: [
        request("PUT", f"/scenes/attack-{number}/storyboard", {"root": "root"})])
    yield
    for _ in range(attacker.count(1_000)):
        attacker.connect(receive_bytes=4096).send(request("GET", "/events?since=c0"))
        attacker.requests += 1
    time.sleep(AFTERMATH_SECONDS)


def plans(attacker: Attacker) -> Iterator[None]:
    """Operations that bring in many controllers, on many connections."""
    operation = {"type": "setRoot", "controller": stack("root", [f"n{number}" for number in range(1_500)])}
    attacker.built = attacker.count(100)
    yield

    def step(wire: Wire, number: int) -> int:
        body = {"scene": f"attack-{number}", "operation": operation}
        granted = wire.ask(request("POST", "/transitions/serialize", body))
        if granted.status < 300:
            document = granted.document
            wire.ask(request("POST", "/transitions/end",
                             {"id": document["id"], "token": document["token"], "outcome": "cancelled"}))
        return 2

    attacker.repeat_on(attacker.built, step)


@dataclass(frozen=True)
class Attack:
    name: str
    # What is done, with # for what was built.
    title: str
    strike: Strike


ATTACKS = [
    Attack("nothing", "nothing", nothing),
    Attack("dry-runs", "dry runs on six connections, beside # tickets with one key and a scope each", dry_runs),
    Attack("two-keys", "dry runs with two keys in turns, beside # tickets with them", two_keys),
    Attack("late-participant", "end of the session of a participant in # transitions", late_participant),
    Attack("filed-anew", "end that brings in 64 controllers, for which # tickets wait", filed_anew),
    Attack("leases-due", "# leases due at one instant", leases_due),
    Attack("tickets-due", "# silent tickets due at one instant", tickets_due),
    Attack("session-of-transitions", "end of a session with # transitions", session_of_transitions),
    Attack("session-of-visits", "end of a session that was in # scenes", session_of_visits),
    Attack("traces", "recordings on 16 connections, of # transitions", traces),
    Attack("unread-streams", "event streams that are not read, of # scenes each", unread_streams),
    Attack("plans", "1,500 new controllers a request, on # connections", plans),
]
