"""What every client promises, played with a daemon and two or more of its agents. See README.md."""

import os
import signal
import time
from collections.abc import Callable

import pytest
from harness import PATIENCE, Daemon, events, until_decided, until_idle, until_queued
from hierarchy_scenarios import *  # These are played too.

NAV = {"root": {"id": "nav", "kind": "navigation", "children": ["list"]}}
IS_SHARED = "--shared" in os.environ["AGENT"]
# A lease that a client keeps also where nothing is parked for it, and the machine is busy, in seconds.
LEASE = 6 if IS_SHARED else 3
# How many gestures must all be decided rightly.
FLICKS = 20
# For scenarios in which a proxy changes or cuts what comes next, which has to be the answer.
not_shared = pytest.mark.skipif(IS_SHARED, reason="events of the stream that is shared come between")


def test_turn(daemon, agent):
    running = daemon()
    agents = [agent(running, f"view {number}") for number in range(4)]
    held = agents[0].ask("start", scene="main", **{"as": "t"})["transition"]
    assert held["state"] == "running"
    assert agents[1].ask("start", scene="main", **{"as": "t"}) == {"transition": None}
    waiting = []
    for number, other in enumerate(agents[1:], 1):
        # No timeout is given in both ways.
        timeout = {"timeout": None} if number % 2 else {}
        waiting.append(other.tell("serialize", scene="main", **timeout, **{"as": "t"}))
        until_queued(running, number)
    fences = [held["fence"]]
    for number, (holder, turn) in enumerate(zip(agents, waiting), 1):
        assert holder.ask("complete", **{"as": "t"})["transition"]["outcome"] == "completed"
        granted = turn()
        fences.append(granted["transition"]["fence"])
        # The first that it was told while it waited.
        assert (granted["waited"][0]["state"], granted["waited"][0]["position"]) == ("queued", number)
        assert "token" not in granted["waited"][0]
        assert len(running.ask("GET", "/scenes/main")[1]["running"]) == 1
    assert fences == sorted(set(fences))
    assert agents[-1].ask("cancel", **{"as": "t"})["transition"]["outcome"] == "cancelled"


def test_a_turn_that_does_not_come_in_time_is_given_up(daemon, agent):
    running = daemon()
    first, second = agent(running, "first"), agent(running, "second")
    first.ask("start", scene="main", **{"as": "t"})
    assert second.ask("serialize", scene="main", timeout=0.3, **{"as": "t"}) == {"error": "timedOut"}
    assert running.ask("GET", "/scenes/main")[1]["queuedCount"] == 0


def test_a_turn_that_would_wait_for_itself(daemon, agent):
    running = daemon()
    client, other = agent(running, "client"), agent(running, "other")
    assert client.ask("nest", scene="main", waits=False, timeout=PATIENCE) == {"error": "blockedBySelf"}
    # Neither the ticket nor the lock is left.
    assert other.ask("attempt", scene="main", fails=False) == {"held": True}
    assert client.ask("nest", scene="main", waits=False, gesture=True, timeout=PATIENCE) == {"error": "blockedBySelf"}
    assert other.ask("attempt", scene="main", fails=False) == {"held": True}
    # What the body does not wait for may wait; here it does wait.
    assert client.ask("nest", scene="main", waits=True, timeout=0.3) == {"error": "timedOut"}
    assert other.ask("attempt", scene="main", fails=False) == {"held": True}


def test_parts_of_one_client_wait_for_each_other(daemon, agent):
    running = daemon()
    client = agent(running, "client")
    client.ask("start", scene="main", **{"as": "first"})
    waiting = client.tell("serialize", scene="main", **{"as": "second"})
    until_queued(running, 1)
    [ticket] = running.ask("GET", "/scenes/main")[1]["queue"]
    # So the daemon says it, for those who cannot know.
    assert ticket["blockedBySelf"] is True
    assert client.ask("complete", **{"as": "first"})["transition"]["outcome"] == "completed"
    assert waiting()["transition"]["state"] == "running"
    assert client.ask("complete", **{"as": "second"})["transition"]["outcome"] == "completed"


def test_an_operation_for_what_was_begun_without_one(daemon, agent):
    running = daemon()
    holder = agent(running, "holder")
    holder.ask("declare", scene="main", storyboard=NAV)
    holder.ask("start", scene="main", **{"as": "t"})
    pop, push = {"type": "pop", "navigation": "nav"}, {"type": "push", "navigation": "nav", "controller": "editor"}
    # At the root there is nothing to pop, which does not count.
    assert holder.ask("perform", operation=pop, **{"as": "t"})["answer"]["noop"] is True
    wrong = holder.ask("perform", operation=push, expect={"controller": "list", "is": "absent"}, **{"as": "t"})
    assert wrong == {"error": "refused", "code": "expectation-failed"}
    for _ in range(2):
        performed = holder.ask("perform", operation=push, **{"as": "t"})["answer"]
        assert (performed["inserted"], performed["removed"], performed["state"]) == (["editor"], [], "running")
        assert "token" not in performed
    assert holder.ask("perform", operation=pop, **{"as": "t"}) == {"error": "refused", "code": "already-performed"}
    assert holder.ask("complete", **{"as": "t"})["transition"]["inserted"] == ["editor"]
    ended = holder.ask("perform", operation=push, **{"as": "t"})
    assert (ended["error"], ended["outcome"]) == ("ended", "completed")


def test_several_operations_as_one(daemon, agent):
    running = daemon()
    holder = agent(running, "holder")
    holder.ask("declare", scene="main", storyboard=NAV)
    pop, push = {"type": "popToRoot", "navigation": "nav"}, {"type": "push", "navigation": "nav", "controller": "editor"}
    over = {"type": "push", "navigation": "nav", "controller": "preview"}
    options = {"operations": [pop, push, over], "scope": "operation"}
    begun = holder.ask("start", scene="main", options=options, **{"as": "first"})["transition"]
    assert [each["type"] for each in begun["operations"]] == ["popToRoot", "push", "push"]
    ended = holder.ask("complete", **{"as": "first"})["transition"]
    assert (ended["inserted"], ended["removed"]) == (["editor", "preview"], [])
    holder.ask("start", scene="main", **{"as": "second"})
    refused = holder.ask("perform", operations=[pop, push, push], **{"as": "second"})
    assert refused == {"error": "refused", "code": "already-on-stack"}
    performed = holder.ask("perform", operations=[pop, push], **{"as": "second"})["answer"]
    # What goes and comes again is a new one.
    assert (performed["inserted"], performed["removed"]) == (["editor"], ["preview", "editor"])
    holder.ask("complete", **{"as": "second"})
    assert running.ask("GET", "/scenes/main")[1]["hierarchy"]["children"][1]["id"] == "editor"


def test_the_examples_of_the_seed(daemon, agent):
    running = daemon()
    clients = [agent(running, name) for name in ("first", "second")]
    segue = {"identifier": "mySegue", "source": "list", "kind": "show", "destination": "editor"}
    clients[0].ask("declare", scene="main", storyboard={**NAV, "segues": [segue]})
    assert clients[0].ask("performSegue", scene="main") == {"removed": []}
    until_idle(running)
    assert [node["id"] for node in running.ask("GET", "/scenes/main")[1]["hierarchy"]["children"]] == ["list", "editor"]
    # A segue that cannot be performed, and yet gives the lock back.
    assert clients[1].ask("performSegue", scene="main") == {"error": "refused", "code": "already-on-stack"}
    until_idle(running)
    presenting = {"id": "list", "presented": {"id": "menu"}}
    clients[0].ask("declare", scene="main", storyboard={"root": {"id": "nav", "kind": "navigation", "children": [presenting]}})
    turns = [client.tell("dismissInTurn", scene="main", then=f"note-{number}") for number, client in enumerate(clients)]
    # The one whose turn comes later has nothing to dismiss. Nothing is dismissed twice.
    answers = sorted((turn() for turn in turns), key=lambda answer: answer["removed"])
    assert answers == [
        {"removed": [], "dismissed": [], "again": []},
        {"removed": ["menu"], "dismissed": ["menu"], "again": "already-performed"},
    ]
    until_idle(running)
    # While one holds it, the event is dropped.
    clients[0].ask("start", scene="main", **{"as": "t"})
    assert clients[1].ask("performSegue", scene="main") == {"started": False}


def test_a_block_that_goes_on_after_it_has_lost_its_turn(daemon, agent):
    running = daemon()
    view = agent(running, "view")
    view.ask("declare", scene="main", storyboard=NAV)
    turn = view.tell("loseInTurn", scene="main")
    held = next(data for name, data in events(running, "main") if name == "transition.updated")
    assert running.ask("POST", "/transitions/revoke", {"id": held["id"], "reason": "a test"})[0] == 200
    # What it asks for then fails as its turn did, and is not performed in a turn of its own.
    assert turn() == {"turn": "revoked", "pushed": ["revoked", "revoked"]}
    assert [found["outcome"] for found in transitions(running, "main")] == ["revoked"]


def test_a_held_transition_outlives_its_lease(daemon, agent):
    running = daemon()
    holder, other = agent(running, "holder"), agent(running, "other")
    held = holder.ask("start", scene="main", options={"leaseSeconds": LEASE}, **{"as": "t"})["transition"]
    # Somebody waits for longer than the lease, in vain.
    assert other.ask("serialize", scene="main", timeout=1.5 * LEASE, **{"as": "t"}) == {"error": "timedOut"}
    assert running.ask("GET", f"/transitions/{held['id']}")[1]["state"] == "running"
    assert holder.ask("complete", **{"as": "t"})["transition"]["outcome"] == "completed"


def test_a_turn_that_comes_later_than_a_lease_lasts(daemon, agent):
    running = daemon()
    holder, waiter, other = (agent(running, name) for name in ("holder", "waiter", "other"))
    holder.ask("start", scene="main", **{"as": "t"})
    waiting = waiter.tell("serialize", scene="main", options={"leaseSeconds": LEASE}, **{"as": "t"})
    # It waits for longer than its lease will last, and then holds for longer.
    assert other.ask("serialize", scene="main", timeout=1.5 * LEASE, **{"as": "t"}) == {"error": "timedOut"}
    holder.ask("complete", **{"as": "t"})
    assert waiting()["transition"]["state"] == "running"
    assert other.ask("serialize", scene="main", timeout=1.5 * LEASE, **{"as": "t"}) == {"error": "timedOut"}
    assert waiter.ask("complete", **{"as": "t"})["transition"]["outcome"] == "completed"


def test_loss_of_lease(daemon, agent):
    running = daemon()
    holder, other = agent(running, "holder"), agent(running, "other")
    # At its end, a client has two seconds to ask once more.
    holder.ask("start", scene="main", options={"leaseSeconds": 12}, **{"as": "t"})
    lost = holder.tell("lost", **{"as": "t"})
    holder.process.send_signal(signal.SIGSTOP)
    assert other.ask("serialize", scene="main", **{"as": "t"})["transition"]["state"] == "running"
    holder.process.send_signal(signal.SIGCONT)
    # It was the client that stood still, and the daemon says so.
    assert lost() == {"outcome": "expired", "reason": "lease"}
    ended = holder.ask("complete", **{"as": "t"})
    assert (ended["error"], ended["outcome"], ended["reason"]) == ("ended", "expired", "lease")


def test_the_longest_hold_is_the_reason(daemon, agent):
    running = daemon()
    holder = agent(running, "holder")
    # Shorter than the lease, at whose end a client has five seconds to ask once more.
    holder.ask("start", scene="main", options={"maxHoldSeconds": 4, "leaseSeconds": 30}, **{"as": "t"})
    assert holder.ask("lost", **{"as": "t"}) == {"outcome": "expired", "reason": "hold"}


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_a_daemon_that_is_away_for_less_than_half_of_a_lease(daemon, agent, end):
    running = daemon()

    def restart(pause: float) -> float:
        """Restarts the daemon, and returns how long it was away."""
        begin = time.monotonic()
        running.process.send_signal(end)
        running.process.wait(PATIENCE)
        time.sleep(pause)
        running.start()
        return time.monotonic() - begin

    # Much longer than it takes to start a daemon here.
    start = restart(0)
    shortest = max(10, 8 * start)
    # Where it took longer this time, this has not been tried.
    for _ in range(5):
        holder = agent(running, "holder")
        # Of different lengths, so that the daemon goes at a different moment of each.
        leases = {f"t{number}": shortest * (1 + number / 16) for number in range(12)}
        for name, lease in leases.items():
            holder.ask("start", scene=name, options={"leaseSeconds": lease}, **{"as": name})
        time.sleep(max(leases.values()) / 3)  # Each has been renewed by its client.
        away = restart(0.4 * shortest - 2 * start)
        time.sleep(max(0, max(leases.values()) - away))  # Who takes a lease for lost has done so by now.
        ended = [holder.ask("complete", **{"as": name}).get("transition", {}).get("outcome") for name in leases]
        holder.kill()
        if away < shortest / 2:
            break
    else:
        pytest.fail(f"a daemon that starts in {start} s was away for {away} s each time")
    assert ended == ["completed"] * len(leases)


def test_a_proxy_that_answers_while_its_daemon_is_away(daemon, agent, proxy):
    running = daemon()
    between = proxy(running)
    holder = agent(between, "holder")
    held = holder.ask("start", scene="main", options={"leaseSeconds": LEASE}, **{"as": "t"})["transition"]
    # What proxies say of a daemon that they do not find is no word of the daemon.
    for status in ["404 Not Found", "502 Bad Gateway", "200 OK"]:
        between.replace(b"POST /transitions/await", f"HTTP/1.1 {status}", "<html>no daemon</html>")
        between.until_replaced()
    time.sleep(LEASE)  # It is kept for longer than its lease.
    assert running.ask("GET", f"/transitions/{held['id']}")[1]["state"] == "running"
    assert holder.ask("complete", **{"as": "t"})["transition"]["outcome"] == "completed"


@not_shared
@pytest.mark.parametrize("status, body", [
    ("404 Not Found", "<html>no route</html>"), ("404 Not Found", '{"message": "no route"}'),
    ("504 Gateway Timeout", '{"message": "Endpoint request timed out"}')])
def test_a_waiter_whose_proxy_answers_while_its_daemon_is_away(daemon, agent, proxy, status, body):
    running = daemon()
    between = proxy(running)
    held = running.ask("POST", "/transitions/start", {"scene": "main", "leaseSeconds": 300})[1]
    # It has no patience; but while it may be parked, nothing is amiss.
    waiter = agent(between, "waiter", patience=0)
    turn = waiter.tell("serialize", scene="main", **{"as": "t"})
    wait = b"POST /transitions/await"
    between.until_asked(wait, 1)
    between.replace(wait, f"HTTP/1.1 {status}", body)
    between.hold(b"nothing has this")
    between.pass_on()
    between.until_asked(wait, 3)
    assert running.ask("POST", "/transitions/end", {"id": held["id"], "token": held["token"]})[0] == 200
    assert turn()["transition"]["state"] == "running"


def test_a_machine_that_sleeps_for_longer_than_a_lease(daemon, agent):
    running = daemon()
    holder = agent(running, "holder")
    holder.ask("start", scene="main", options={"leaseSeconds": LEASE}, **{"as": "t"})
    for process in [holder.process, running.process]:
        process.send_signal(signal.SIGSTOP)
    time.sleep(1.2 * LEASE)
    # The daemon is there again first, so that it answers what the client asks at once.
    running.process.send_signal(signal.SIGCONT)
    assert running.ask("GET", "/livez")[0] == 200
    holder.process.send_signal(signal.SIGCONT)
    time.sleep(LEASE / 3)
    assert holder.ask("complete", **{"as": "t"})["transition"]["outcome"] == "completed"


def test_restart_in_the_middle(daemon, agent):
    running = daemon()
    holder, other = agent(running, "holder"), agent(running, "other")
    holder.ask("start", scene="main", **{"as": "t"})
    waiting = other.tell("serialize", scene="main", **{"as": "t"})
    until_queued(running, 1)
    running.kill()
    running.start()
    assert holder.ask("complete", **{"as": "t"})["transition"]["outcome"] == "completed"
    assert waiting()["transition"]["state"] == "running"
    assert other.ask("complete", **{"as": "t"})["transition"]["outcome"] == "completed"


def test_a_daemon_that_is_not_there_yet(daemon, agent):
    running = daemon()
    late, impatient = agent(running, "late"), agent(running, "impatient", patience=0.3)
    running.kill()
    assert impatient.ask("start", scene="main", **{"as": "t"}) == {"error": "unreachable"}
    starting = late.tell("start", scene="main", **{"as": "t"})
    # It does not wait without a word.
    late.until_said(f"at {running.url}: ")
    running.start()
    assert starting()["transition"]["state"] == "running"


def test_revoked(daemon, agent):
    running = daemon()
    holder = agent(running, "holder")
    held = holder.ask("start", scene="main", **{"as": "t"})["transition"]
    lost = holder.tell("lost", **{"as": "t"})
    assert running.ask("POST", "/transitions/revoke", {"id": held["id"], "reason": "a test"})[0] == 200
    assert lost() == {"outcome": "revoked", "reason": "a test"}
    ended = holder.ask("complete", **{"as": "t"})
    assert (ended["error"], ended["outcome"]) == ("ended", "revoked")
    assert holder.ask("document", **{"as": "t"})["transition"]["outcome"] == "revoked"


def test_expectation_failed(daemon, agent):
    running = daemon()
    client = agent(running, "view")
    assert client.ask("declare", scene="main", storyboard=NAV)["answer"]["revision"] == 1
    options = {"expect": [{"controller": "editor", "is": "top"}]}
    assert client.ask("start", scene="main", options=options, **{"as": "t"}) == {
        "error": "refused", "code": "expectation-failed"}
    ended = client.ask("serialize", scene="main", options=options, **{"as": "t"})
    assert (ended["error"], ended["outcome"], ended["reason"]) == ("ended", "rejected", "expectation-failed")


def test_nothing_to_do(daemon, agent):
    running = daemon()
    client = agent(running, "view")
    client.ask("declare", scene="main", storyboard=NAV)
    options = {"operation": {"type": "pop", "navigation": "nav"}}
    done = client.ask("serialize", scene="main", options=options, **{"as": "t"})["transition"]
    assert (done["state"], done["noop"]) == ("ended", True)
    assert client.ask("complete", **{"as": "t"})["transition"]["noop"] is True
    assert client.ask("start", scene="main", options=options, **{"as": "t"})["transition"]["noop"] is True


@pytest.mark.parametrize("calls", [[], [{"do": "complete"}], [{"do": "cancel"}]])
def test_a_body_that_has_nothing_to_hold(daemon, agent, calls):
    running = daemon()
    view, other = agent(running, "view"), agent(running, "other")
    view.ask("declare", scene="main", storyboard=NAV)
    # The body runs, without a lock, and so its calls end nothing.
    assert view.ask("hold", scene="main", options={"operation": {"type": "pop", "navigation": "nav"}}, calls=calls) == {}
    assert [(found["outcome"], found.get("fence")) for found in transitions(running, "main")] == [("completed", None)]
    assert other.ask("start", scene="main", **{"as": "t"})["transition"]["state"] == "running"


def test_a_body_that_only_tries(daemon, agent):
    running = daemon()
    view, other = agent(running, "view"), agent(running, "other")
    for fails in [False, True]:
        assert view.ask("attempt", scene="main", fails=fails) == {"held": True}
    assert [found["outcome"] for found in transitions(running, "main")] == ["completed", "cancelled"]
    other.ask("start", scene="main", **{"as": "t"})
    assert view.ask("attempt", scene="main", fails=False) == {"held": False}


def test_a_body_whose_end_is_refused_gives_it_back(daemon, agent, proxy):
    running = daemon()
    between = proxy(running)
    view, other = agent(between, "view", patience=0), agent(running, "other")
    # It is given back with the next answer at the latest, which comes within a sixth of the lease.
    options = {"leaseSeconds": 12}
    between.refuse(b"POST /transitions/end", "journal-unavailable")
    assert view.ask("hold", scene="main", options=options, calls=[])["code"] == "journal-unavailable"
    assert other.ask("serialize", scene="main", **{"as": "t"})["transition"]["state"] == "running"
    assert {found.get("outcome") for found in transitions(running, "main")} == {None, "cancelled"}


@pytest.mark.parametrize("begin", ["start", "startInLock"])
def test_what_is_collected_while_it_is_held_is_given_back(daemon, agent, begin):
    running = daemon()
    view, other = agent(running, "view"), agent(running, "other")
    # It is given back with the next answer at the latest, which comes within a sixth of the lease.
    view.ask(begin, scene="main", options={"leaseSeconds": LEASE}, **{"as": "t"})
    assert view.ask("drop", **{"as": "t"}) == {}
    assert other.ask("serialize", scene="main", **{"as": "t"})["transition"]["state"] == "running"
    assert transitions(running, "main")[0]["outcome"] == "cancelled"


def test_drag(daemon, agent):
    running = daemon()
    client = agent(running, "view")
    client.ask("declare", scene="main", storyboard=NAV)
    options = {
        "operation": {"type": "push", "navigation": "nav", "controller": "editor"}, "interactive": True,
        "animation": {"duration": 1}}
    assert client.ask("start", scene="main", options=options, **{"as": "t"})["duration"] == 1
    assert client.ask("progress", fraction=0.75, **{"as": "t"})["answer"]["applied"] is True
    decided = client.ask("release", **{"as": "t"})["answer"]
    assert (decided["decision"], decided["remaining"]) == ("finish", 0.25)
    assert client.ask("complete", **{"as": "t"})["transition"]["inserted"] == ["editor"]
    assert client.ask("document", **{"as": "t"})["transition"]["inserted"] == ["editor"]


@pytest.mark.parametrize("fraction", [0.6, 0.4])
@pytest.mark.parametrize("raw", [False, True])
def test_gestures_that_end_before_their_positions_are_answered(daemon, agent, fraction, raw):
    running = daemon()
    client = agent(running, "view")
    finished = client.ask("flick", scene="main", fraction=fraction, count=FLICKS, raw=raw)
    assert finished == {"finished": FLICKS if fraction > 0.5 else 0}


@pytest.mark.parametrize("decision, outcome", [(None, "completed"), ("finish", "completed"), ("cancel", "cancelled")])
def test_a_finger_that_leaves_before_its_turn(daemon, agent, decision, outcome):
    running = daemon()
    client, other = agent(running, "view"), agent(running, "other")
    other.ask("start", scene="main", **{"as": "t"})
    client.ask("drag", scene="main", options={"animation": {"duration": 0}}, **{"as": "g"})
    client.ask("move", fraction=0.6, **{"as": "g"})
    left = client.tell("letGo", decision=decision, **{"as": "g"})
    if decision == "cancel":
        # It does not wait for its turn.
        assert left() == {"played": []}
        assert running.ask("GET", "/scenes/main")[1]["queuedCount"] == 0
    else:
        until_decided(running)
    other.ask("complete", **{"as": "t"})
    if decision is None:
        assert left() == {"finished": True, "played": ["finish"]}
    elif decision == "finish":
        assert left() == {"played": ["finish"]}
    assert sorted(found["outcome"] for found in transitions(running, "main")) == sorted(["completed", outcome])


def test_a_finger_that_is_still_there_when_its_turn_comes(daemon, agent):
    running = daemon()
    client, other = agent(running, "view"), agent(running, "other")
    other.ask("start", scene="main", **{"as": "t"})
    client.ask("drag", scene="main", options={"animation": {"duration": 0}}, **{"as": "g"})
    client.ask("move", fraction=0.9, **{"as": "g"})
    granted = client.tell("granted", **{"as": "g"})
    until_queued(running, 1)
    other.ask("complete", **{"as": "t"})
    assert granted()["transition"]["state"] == "running"
    client.ask("move", fraction=0.2, **{"as": "g"})
    assert client.ask("letGo", **{"as": "g"}) == {"finished": False, "played": ["cancel"]}
    assert [found["outcome"] for found in transitions(running, "main")] == ["completed", "cancelled"]


def test_a_gesture_that_is_released_twice(daemon, agent):
    running = daemon()
    client = agent(running, "view")
    client.ask("drag", scene="main", options={"animation": {"duration": 0.2}}, **{"as": "g"})
    client.ask("move", fraction=0.6, **{"as": "g"})
    left = [client.tell("letGo", **{"as": "g"}) for _ in range(2)]
    answers = [each() for each in left]
    assert [answer["finished"] for answer in answers] == [True, True]
    # It is played once.
    assert answers[0]["played"] + answers[1]["played"] == ["finish"]
    assert client.ask("letGo", **{"as": "g"}) == {"finished": True, "played": []}


def test_a_gesture_with_nothing_to_do_goes_back(daemon, agent):
    running = daemon()
    client = agent(running, "view")
    client.ask("declare", scene="main", storyboard=NAV)
    client.ask("drag", scene="main", options={"operation": {"type": "pop", "navigation": "nav"}}, **{"as": "g"})
    client.ask("move", fraction=0.9, **{"as": "g"})
    assert client.ask("letGo", **{"as": "g"}) == {"finished": False, "played": [None]}


def test_a_gesture_that_is_taken_away(daemon, agent):
    running = daemon()
    client = agent(running, "view")
    client.ask("drag", scene="main", **{"as": "g"})
    client.ask("move", fraction=0.9, **{"as": "g"})
    held = client.ask("granted", **{"as": "g"})["transition"]
    assert running.ask("POST", "/transitions/revoke", {"id": held["id"], "reason": "a test"})[0] == 200
    for decision in ["finish", None]:
        lost = client.ask("letGo", decision=decision, **{"as": "g"})
        assert (lost["error"], lost["outcome"]) == ("ended", "revoked")


def test_a_finger_that_leaves_when_its_turn_has_not_come_in_time(daemon, agent):
    running = daemon()
    client, other = agent(running, "view"), agent(running, "other")
    other.ask("start", scene="main", **{"as": "t"})
    client.ask("drag", scene="main", timeout=0.1, **{"as": "g"})
    assert client.ask("granted", **{"as": "g"}) == {"error": "timedOut"}
    assert client.ask("letGo", decision="finish", **{"as": "g"}) == {"error": "timedOut"}
    # It has left the queue already.
    assert client.ask("letGo", decision="cancel", **{"as": "g"}) == {"played": []}
    assert running.ask("GET", "/scenes/main")[1]["queuedCount"] == 0


@pytest.mark.parametrize("calls, outcome", [
    ([], "completed"), ([{"do": "complete"}], "completed"), ([{"do": "cancel"}], "cancelled"),
    ([{"do": "release", "decision": "finish"}], "completed"), ([{"do": "release", "decision": "cancel"}], "cancelled"),
    ([{"do": "release", "decision": "cancel"}, {"do": "cancel"}], "cancelled")])
def test_a_body_that_ends_or_decides_its_transition(daemon, agent, calls, outcome):
    running = daemon()
    view = agent(running, "view")
    assert view.ask("hold", scene="main", options={"interactive": True}, calls=calls) == {}
    assert [found["outcome"] for found in transitions(running, "main")] == [outcome]


def test_an_end_that_contradicts_the_gesture(daemon, agent):
    running = daemon()
    view = agent(running, "view")
    held = view.ask("start", scene="main", options={"interactive": True}, **{"as": "t"})["transition"]
    assert view.ask("release", decision="cancel", **{"as": "t"})["answer"]["decision"] == "cancel"
    refused = view.ask("complete", **{"as": "t"})
    assert (refused["error"], refused["code"]) == ("refused", "already-decided")
    # It is held further, and so it is heard that it is taken away.
    lost = view.tell("lost", **{"as": "t"})
    assert running.ask("POST", "/transitions/revoke", {"id": held["id"], "reason": "a test"})[0] == 200
    assert lost() == {"outcome": "revoked", "reason": "a test"}


def test_participant(daemon, agent):
    running = daemon()
    owner, part = agent(running, "owner"), agent(running, "part")
    # Of a scene that begins while a stream begins, the stream may tell all in a reset.
    owner.ask("declare", scene="main", storyboard=NAV)
    part.ask("follow", scene="main", attached=True, **{"as": "events"})
    starting = owner.tell(
        "start", scene="main", options={"participants": [{"client": "part"}], "readySeconds": 60}, **{"as": "t"})
    preparing = part.ask("next", name="transition.preparing", **{"as": "events"})["event"]
    assert part.ask("ready", id=preparing["data"]["id"])["transition"]["state"] == "running"
    assert starting()["transition"]["state"] == "running"


@pytest.mark.parametrize("reason", ["it is not saved", None])
def test_a_veto(daemon, agent, reason):
    running = daemon()
    owner, part, other = agent(running, "owner"), agent(running, "part"), agent(running, "other")
    owner.ask("declare", scene="main", storyboard=NAV)
    part.ask("follow", scene="main", attached=True, **{"as": "events"})
    starting = owner.tell(
        "start", scene="main", options={"participants": [{"client": "part", "mayVeto": True}, "other"], "readySeconds": 60},
        **{"as": "t"})
    preparing = part.ask("next", name="transition.preparing", **{"as": "events"})["event"]
    assert other.ask("veto", id=preparing["data"]["id"]) == {"error": "refused", "code": "forbidden"}
    given = {} if reason is None else {"reason": reason}
    vetoed = part.ask("veto", id=preparing["data"]["id"], **given)["transition"]
    assert (vetoed["outcome"], vetoed["reason"], vetoed["vetoedBy"], vetoed.get("vetoReason")) == (
        "rejected", "vetoed", "part", reason)
    ended = starting()
    assert (ended["error"], ended["outcome"], ended["reason"]) == ("ended", "rejected", "vetoed")


def test_an_animation_that_changes_and_a_note(daemon, agent):
    running = daemon()
    owner = agent(running, "owner")
    options = {"animation": {"duration": 1, "curve": "linear"}, "note": "the display is cleaned"}
    held = owner.ask("start", scene="main", options=options, **{"as": "t"})["transition"]
    assert held["note"] == "the display is cleaned"
    updated = owner.ask("update", animation={"duration": 2, "userInfo": [1]}, **{"as": "t"})["transition"]
    assert (updated["animation"]["duration"], updated["animation"]["curve"]) == (2, "linear")
    assert updated["animation"]["userInfo"] == [1]
    assert "token" not in updated
    assert owner.ask("update", animation={"type": "star"}, **{"as": "t"}) == {"error": "refused", "code": "unknown-field"}
    owner.ask("complete", **{"as": "t"})
    assert owner.ask("update", animation={"duration": 3}, **{"as": "t"})["error"] == "ended"


def test_all_of_a_client_revoked(daemon, agent):
    running = daemon()
    view, other, admin = (agent(running, name) for name in ("view", "other", "admin"))
    held = view.ask("start", scene="main", **{"as": "t"})["transition"]
    waiting = view.tell("serialize", scene="main", **{"as": "waiting"})
    view.ask("start", scene="elsewhere", **{"as": "elsewhere"})
    turn = other.tell("serialize", scene="main", **{"as": "t"})
    until_queued(running, 2)
    revoked = admin.ask("revokeAll", scene="main", client="view", reason="a test")["revoked"]
    assert len(revoked) == 2 and revoked[0] == held["id"]
    assert waiting()["error"] == "ended"
    assert turn()["transition"]["state"] == "running"
    assert running.ask("GET", "/scenes/elsewhere")[1]["runningCount"] == 1
    assert len(admin.ask("revokeAll", scene="main", reason="all")["revoked"]) == 1


def test_a_guard(daemon, agent):
    running = daemon()
    owner, editor = agent(running, "owner"), agent(running, "editor")
    pop = {"type": "pop", "navigation": "nav"}
    owner.ask("declare", scene="main", storyboard={
        "root": {"id": "nav", "kind": "navigation", "children": ["list", "editor"]}})
    guard = editor.ask("addGuard", scene="main", controllers=["editor"], onSilence="abort")["guard"]
    assert (guard["client"], guard["controllers"], guard["onSilence"]) == ("editor", ["editor"], "abort")
    assert editor.ask("addGuard", scene="main", controllers=["editor"], onSilence="abort")["guard"] == guard
    editor.ask("follow", scene="main", attached=True, **{"as": "events"})
    for allows in (False, True):
        starting = owner.tell("start", scene="main", options={"operation": pop}, **{"as": f"t{allows}"})
        asked = editor.ask("next", name="transition.preparing", **{"as": "events"})["event"]["data"]
        assert [(each["client"], each["guard"]) for each in asked["participants"]] == [("editor", guard["id"])]
        if allows:
            assert editor.ask("ready", id=asked["id"])["transition"]["state"] == "running"
            assert starting()["transition"]["state"] == "running"
            owner.ask("cancel", **{"as": f"t{allows}"})
        else:
            editor.ask("veto", id=asked["id"], reason="it is not saved")
            assert starting()["error"] == "ended"
    # Who says so is not asked, and neither is a guard that was taken back, twice.
    forced = owner.ask("start", scene="main", options={"operation": pop, "ignoreGuards": True}, **{"as": "forced"})
    assert forced["transition"]["state"] == "running"
    owner.ask("cancel", **{"as": "forced"})
    held = owner.ask("start", scene="main", **{"as": "bare"})["transition"]
    assert owner.ask("perform", operation=pop, **{"as": "bare"}) == {"error": "refused", "code": "guarded"}
    for _ in range(2):
        editor.ask("removeGuard", scene="main", id=guard["id"])
    assert owner.ask("perform", operation=pop, **{"as": "bare"})["answer"]["id"] == held["id"]


def test_a_participant_whose_session_has_ended(daemon, agent):
    running = daemon("--journal", "memory")
    owner, part = agent(running, "owner"), agent(running, "part")
    # From now on it has a session, which the daemon forgets.
    part.ask("start", scene="elsewhere", **{"as": "t"})
    part.ask("complete", **{"as": "t"})
    running.kill()
    running.start()
    held = owner.ask("start", scene="main", **{"as": "t"})["transition"]
    assert part.ask("ready", id=held["id"]) == {"error": "refused", "code": "forbidden"}


def test_coalesced(daemon, agent):
    running = daemon()
    holder, older, newer = (agent(running, name) for name in ("holder", "older", "newer"))
    holder.ask("start", scene="main", **{"as": "t"})
    options = {"coalesce": {"key": "selection", "keep": "latest"}}
    waiting = older.tell("serialize", scene="main", options=options, **{"as": "t"})
    until_queued(running, 1)
    newest = newer.tell("serialize", scene="main", options=options, **{"as": "t"})
    ended = waiting()
    assert (ended["error"], ended["outcome"]) == ("ended", "superseded")
    holder.ask("complete", **{"as": "t"})
    assert newest()["transition"]["state"] == "running"


def test_a_higher_priority_is_served_first(daemon, agent):
    running = daemon()
    holder, early, urgent = (agent(running, name) for name in ("holder", "early", "urgent"))
    holder.ask("start", scene="main", **{"as": "t"})
    last = early.tell("serialize", scene="main", **{"as": "t"})
    until_queued(running, 1)
    first = urgent.tell("serialize", scene="main", options={"priority": 5}, **{"as": "t"})
    until_queued(running, 2)
    holder.ask("complete", **{"as": "t"})
    granted = first()
    assert (granted["transition"]["priority"], granted["waited"][0]["position"]) == (5, 1)
    assert running.ask("GET", "/scenes/main")[1]["queuedCount"] == 1
    urgent.ask("complete", **{"as": "t"})
    assert last()["transition"]["state"] == "running"


def test_what_shares_a_lock_runs_side_by_side(daemon, agent):
    running = daemon()
    light, dark, writer, late = (agent(running, name) for name in ("light", "dark", "writer", "late"))
    for camera in (light, dark):
        taken = camera.ask("serialize", scene="main", options={"mode": "shared"}, **{"as": "t"})["transition"]
        assert (taken["state"], taken["mode"]) == ("running", "shared")
    assert writer.ask("start", scene="main", **{"as": "t"}) == {"transition": None}
    first = writer.tell("serialize", scene="main", **{"as": "t"})
    until_queued(running, 1)
    # The line holds.
    assert late.ask("start", scene="main", options={"mode": "shared"}, **{"as": "t"}) == {"transition": None}
    last = late.tell("serialize", scene="main", options={"mode": "shared"}, **{"as": "t"})
    until_queued(running, 2)
    for camera in (light, dark):
        camera.ask("complete", **{"as": "t"})
    assert first()["transition"]["state"] == "running"
    writer.ask("complete", **{"as": "t"})
    assert last()["transition"]["mode"] == "shared"


def test_any_of_several_names(daemon, agent):
    running = daemon()
    first, second, third = (agent(running, name) for name in ("first", "second", "third"))
    options = {"scope": {"anyOf": ["phone", "tablet"]}}
    assert first.ask("start", scene="farm", options=options, **{"as": "t"})["transition"]["scope"] == ["phone"]
    assert second.ask("start", scene="farm", options=options, **{"as": "t"})["transition"]["scope"] == ["tablet"]
    waiting = third.tell("serialize", scene="farm", options=options, **{"as": "t"})
    until_queued(running, 1, scene="farm")
    second.ask("complete", **{"as": "t"})
    granted = waiting()
    assert granted["transition"]["scope"] == ["tablet"]
    assert granted["waited"][0]["scope"] == options["scope"]


def test_an_interruption_begins_and_ends(daemon, agent):
    running = daemon()
    holder, waiter, urgent = (agent(running, name) for name in ("holder", "waiter", "urgent"))
    consent = {"by": "higher", "graceSeconds": 1, "as": "completed"}
    held = holder.ask("start", scene="main", options={"interruptible": consent}, **{"as": "t"})["transition"]
    last = waiter.tell("serialize", scene="main", **{"as": "t"})
    until_queued(running, 1)
    heard, lost = holder.tell("interrupted", **{"as": "t"}), holder.tell("lost", **{"as": "t"})
    first = urgent.tell("serialize", scene="main", options={"priority": 5, "whenBusy": "interrupt"}, **{"as": "t"})
    interruption = heard()["interruption"]
    assert interruption["client"] == "urgent" and 0 < interruption["graceRemaining"] <= 1
    assert lost() == {"outcome": "completed", "reason": "interrupted"}
    granted = first()["transition"]
    assert granted["id"] == interruption["by"] == running.ask("GET", f"/transitions/{held['id']}")[1]["interruptedBy"]
    # Its own end, with the same outcome, says what became of it.
    assert holder.ask("complete", **{"as": "t"})["error"] == "ended"
    urgent.ask("complete", **{"as": "t"})
    assert last()["transition"]["state"] == "running"


def test_the_owner_of_an_interrupted_transition_ends_it_itself(daemon, agent):
    running = daemon()
    holder, urgent = (agent(running, name) for name in ("holder", "urgent"))
    holder.ask("start", scene="main", options={"interruptible": {"by": "higher", "graceSeconds": 10}}, **{"as": "t"})
    first = urgent.tell("serialize", scene="main", options={"priority": 5, "whenBusy": "interrupt"}, **{"as": "t"})
    holder.ask("interrupted", **{"as": "t"})
    assert holder.ask("complete", **{"as": "t"})["transition"]["outcome"] == "completed"
    assert first()["transition"]["state"] == "running"


def test_an_interruption_before_the_owner_knows_of_its_grant_is_heard(daemon, agent):
    running = daemon()
    holder, route, urgent = (agent(running, name) for name in ("holder", "route", "urgent"))
    holder.ask("start", scene="main", **{"as": "t"})
    # Of so long a lease, its owner asks in ten seconds only.
    options = {"interruptible": {"by": "higher", "graceSeconds": 8}, "leaseSeconds": 60}
    granted = route.tell("serialize", scene="main", options=options, **{"as": "t"})
    until_queued(running, 1)
    route.process.send_signal(signal.SIGSTOP)
    holder.ask("complete", **{"as": "t"})
    first = urgent.tell("serialize", scene="main", options={"priority": 5, "whenBusy": "interrupt"}, **{"as": "t"})
    until_queued(running, 1)
    route.process.send_signal(signal.SIGCONT)
    assert granted()["transition"]["state"] == "running"
    # The answer to its first word says so, and the next one would come too late.
    assert route.ask("interrupted", **{"as": "t"})["interruption"]["client"] == "urgent"
    route.ask("cancel", **{"as": "t"})
    assert first()["transition"]["state"] == "running"


def test_the_end_of_a_transition_says_that_nothing_interrupts_it_any_more(daemon, agent):
    running = daemon()
    holder = agent(running, "holder")
    holder.ask("start", scene="main", **{"as": "t"})
    waiting = holder.tell("interrupted", **{"as": "t"})
    holder.ask("complete", **{"as": "t"})
    assert waiting() == {"interruption": None}


def test_a_start_does_not_interrupt(daemon, agent):
    running = daemon()
    holder, urgent = (agent(running, name) for name in ("holder", "urgent"))
    holder.ask("start", scene="main", options={"interruptible": {"by": "higher"}}, **{"as": "t"})
    assert urgent.ask("start", scene="main", options={"priority": 5, "whenBusy": "interrupt"}, **{"as": "t"})["transition"] is None


def test_a_client_that_is_killed_lets_go(daemon, agent):
    running = daemon()
    holder, waiter, other = (agent(running, name) for name in ("holder", "waiter", "other"))
    held = holder.ask("start", scene="main", options={"leaseSeconds": 300}, **{"as": "t"})["transition"]
    waiter.tell("serialize", scene="main", **{"as": "t"})
    until_queued(running, 1)
    waiting = other.tell("serialize", scene="main", **{"as": "t"})
    until_queued(running, 2)
    waiter.kill()
    holder.kill()
    assert waiting()["transition"]["state"] == "running"
    ended = running.ask("GET", f"/transitions/{held['id']}")[1]
    assert (ended["outcome"], ended["reason"]) == ("expired", "session-lost")


def test_session_lost(daemon, agent):
    running = daemon("--journal", "memory")
    client = agent(running, "view")
    client.ask("start", scene="main", **{"as": "t"})
    lost = client.tell("lost", **{"as": "t"})
    # It forgets the session, and the transition with it.
    running.kill()
    running.start()
    heard = lost()
    assert heard["outcome"] == "expired"
    assert heard["reason"] == "forgotten"
    assert client.ask("start", scene="main", **{"as": "u"})["transition"]["state"] == "running"


@not_shared
def test_an_end_of_what_the_daemon_has_forgotten(daemon, agent, proxy):
    running = daemon("--journal", "memory")
    between = proxy(running)
    client = agent(between, "view")
    client.ask("start", scene="main", **{"as": "t"})
    # The client does not hear by itself that it is lost.
    between.hold(b"/transitions/await")
    running.kill()
    running.start()
    ended = client.ask("complete", **{"as": "t"})
    assert (ended["error"], ended["outcome"], ended["reason"]) == ("ended", "expired", "forgotten")


def test_a_lease_that_runs_out_where_nothing_is_answered(daemon, agent, proxy):
    running = daemon()
    between = proxy(running)
    client = agent(between, "view")
    client.ask("start", scene="main", options={"leaseSeconds": 6}, **{"as": "t"})
    between.hold()
    assert client.ask("lost", **{"as": "t"}) == {"outcome": "expired", "reason": "unreachable"}


def test_too_many_requests(daemon, agent):
    running = daemon("--max-requests-per-second", "10")
    client = agent(running, "view")
    answers = [client.tell("start", scene=f"s{number}", **{"as": f"t{number}"}) for number in range(20)]
    assert [answer()["transition"]["state"] for answer in answers] == ["running"] * 20


def test_a_full_queue_is_refused(daemon, agent):
    running = daemon("--max-queued", "1")
    holder, waiter, third = (agent(running, name) for name in ("holder", "waiter", "third"))
    holder.ask("start", scene="main", **{"as": "t"})
    waiter.tell("serialize", scene="main", **{"as": "t"})
    until_queued(running, 1)
    assert third.ask("serialize", scene="main", **{"as": "t"}) == {"error": "refused", "code": "queue-full"}


def test_draining(daemon, agent):
    running = daemon()
    client, other = agent(running, "view"), agent(running, "other")
    other.ask("start", scene="main", **{"as": "t"})
    waiting = client.tell("serialize", scene="main", **{"as": "t"})
    until_queued(running, 1)
    running.process.terminate()
    assert running.process.wait(PATIENCE) == 0
    running.start()
    other.ask("complete", **{"as": "t"})
    assert waiting()["transition"]["state"] == "running"


@pytest.mark.parametrize("code", ["not-owner", "draining", "recovering", "journal-unavailable", "out-of-room"])
@pytest.mark.parametrize("call", ["start", "serialize"])
def test_what_may_be_accepted_later_is_asked_again_with_its_key(daemon, agent, proxy, call, code):
    running = daemon()
    between = proxy(running)
    client = agent(between, "view")
    request = f"POST /transitions/{call} HTTP".encode()
    between.refuse(b"POST /sessions HTTP", code)
    between.refuse(request, code, times=2)
    answer = client.ask(call, scene="main", **{"as": "t"})
    if call == "start" and code == "out-of-room":
        # Who does not wait is told.
        assert answer == {"error": "refused", "code": code}
        return
    assert answer["transition"]["state"] == "running"
    keys = between.keys(request)
    assert len(keys) == 3 and len(set(keys)) == 1


def test_a_daemon_without_room_is_not_asked_again_after_the_timeout(daemon, agent, proxy):
    running = daemon()
    between = proxy(running)
    client = agent(between, "view")
    between.refuse(b"POST /transitions/serialize HTTP", "out-of-room", headers="Retry-After: 10\r\n")
    assert client.ask("serialize", scene="main", timeout=9, **{"as": "t"}) == {"error": "refused", "code": "out-of-room"}


def test_what_looks_and_administrates(daemon, agent):
    running = daemon()
    owner, other = agent(running, "owner"), agent(running, "other")
    assert other.ask("declare", scene="desk-1", storyboard=NAV, dryRun=True)["answer"]["root"]["id"] == "nav"
    assert running.ask("GET", "/scenes/desk-1")[0] == 404
    other.ask("declare", scene="desk-1", storyboard=NAV)
    assert other.ask("controller", scene="desk-1", id="list")["answer"]["path"] == ["nav", "list"]
    assert other.ask("controller", scene="desk-1", id="no/ne")["code"] == "unknown-controller"
    changed = other.ask("patchStoryboard", scene="desk-1", changes={"transitionTypes": {"slide": {"duration": 0.2}}})
    assert changed["answer"]["name"] == "desk-1"
    assert other.ask("untilIdle", scene="desk-1")["answer"]["idle"] is True
    assert other.ask("untilController", scene="desk-1", id="list", **{"is": "top"})["answer"]["controller"]["id"] == "list"
    assert other.ask("untilController", scene="desk-1", id="list", timeout=0.2, **{"not": "top"}) == {"error": "timedOut"}
    assert other.ask("untilController", scene="desk-1", id="list", **{"is": "tall"})["code"] == "invalid-field"
    held = owner.ask("start", scene="desk-1", **{"as": "t"})["transition"]
    push = {"operation": {"type": "push", "navigation": "nav", "controller": "editor"}, "animation": {"type": "slide"}}
    for call in ("start", "serialize"):
        dry = other.ask("dryRun", scene="desk-1", call=call, options=push)["answer"]
        assert (dry["wouldRun"], dry["blockers"]) == (False, [held["id"]])
    assert other.ask("read", id=held["id"])["answer"]["client"] == "owner"
    assert other.ask("read", id="t-0000000000001")["code"] == "unknown-transition"
    assert other.ask("untilIdle", scene="desk-1", timeout=0.2) == {"error": "timedOut"}
    assert other.ask("untilIdle", scene="desk-1", id="list", timeout=0.2) == {"error": "timedOut"}
    waiting = other.tell("untilIdle", scene="desk-1", quiet=0.2)
    lost = owner.tell("lost", **{"as": "t"})
    assert other.ask("revoke", id=held["id"], reason="a test")["answer"]["outcome"] == "revoked"
    assert lost() == {"outcome": "revoked", "reason": "a test"}
    assert waiting()["answer"]["idleFor"] >= 0.2
    other.ask("declare", scene="wall", storyboard={"root": {"id": "tabs", "kind": "tabs", "children": ["page", "ticker"]}})
    owner.ask("start", scene="wall", options={"scope": ["ticker"]}, **{"as": "endless"})
    assert other.ask("untilIdle", scene="wall", id="page", quiet=0.1)["answer"]["runningCount"] == 1
    assert other.ask("untilIdle", scene="wall", timeout=0.2) == {"error": "timedOut"}
    assert [scene["name"] for scene in other.ask("scenes")["answer"]] == ["desk-1", "wall"]
    assert [found["id"] for found in other.ask("listed", scene="desk-1", state="ended", limit=1)["answer"]] == [held["id"]]


def test_foreign_origin(daemon, agent):
    running = daemon()
    page = agent(running, "page", headers={"Origin": "https://elsewhere.example"})
    assert page.ask("start", scene="main", **{"as": "t"}) == {"error": "refused", "code": "foreign-origin"}


def test_events_are_resumed_without_a_gap(daemon, agent):
    running = daemon()
    follower, other = agent(running, "follower"), agent(running, "other")
    other.ask("declare", scene="main", storyboard=NAV)
    follower.ask("follow", scene="main", **{"as": "events"})
    ids = []
    for number in range(4):
        if number == 2:
            running.kill()
            running.start()
        started = other.ask("start", scene="main", **{"as": "t"})["transition"]
        other.ask("complete", **{"as": "t"})
        ids.append(started["id"])
    ended = [follower.ask("next", name="transition.ended", **{"as": "events"})["event"]["data"]["id"] for _ in ids]
    assert ended == ids


@pytest.mark.parametrize("direction", ["up", "down"])
def test_connections_that_are_cut_after_any_byte(daemon, agent, proxy, direction):
    running = daemon()
    between = proxy(running)
    client = agent(between, "view")
    assert client.ask("attempt", scene="first", fails=False) == {"held": True}
    # A session ends two seconds after its last connection was cut, which may be too little for a slow machine.
    with running.attach(between.session()):
        # More than the bytes of an exchange, a few bytes more each time.
        cuts = 0
        for count in range(0, 800, 13):
            between.cut_after(count, direction)
            scene = f"s{count}"
            assert client.ask("serialize", scene=scene, **{"as": "t"})["transition"]["state"] == "running"
            assert client.ask("complete", **{"as": "t"})["transition"]["outcome"] == "completed"
            assert [found["outcome"] for found in transitions(running, scene)] == ["completed"]
            cuts += between.has_cut(direction)
        assert cuts > 30


def transitions(running: Daemon, scene: str) -> list[dict]:
    return running.ask("GET", f"/transitions?scene={scene}")[1]["transitions"]


def test_a_stream_that_is_cut_after_any_byte(daemon, agent, proxy):
    running = daemon()
    between = proxy(running)
    follower, other = agent(between, "follower"), agent(running, "other")
    other.ask("declare", scene="main", storyboard=NAV)
    follower.ask("follow", scene="main", **{"as": "events"})
    for count in range(0, 1500, 97):
        between.cut_after(count, "down")
        started = other.ask("start", scene="main", **{"as": "t"})["transition"]
        other.ask("complete", **{"as": "t"})
        ended = follower.ask("next", name="transition.ended", **{"as": "events"})["event"]["data"]
        assert ended["id"] == started["id"]


# Once it is silent, the stream is asked for again: at once with success, or in vain before.
@pytest.mark.parametrize("in_vain", [0, 1])
def test_a_stream_that_falls_silent_while_its_connection_stands(daemon, agent, proxy, in_vain):
    running = daemon()
    between = proxy(running)
    follower, other = agent(between, "follower"), agent(running, "other")
    other.ask("declare", scene="main", storyboard=NAV)
    # Each time: on a slow machine the client may ask again before the connection is frozen.
    between.exchange(b"Arbiter-Heartbeat-Seconds: 15", b"Arbiter-Heartbeat-Seconds: 0.5", once=False)
    follower.ask("follow", scene="main", **{"as": "events"})

    def turn() -> str:
        started = other.ask("start", scene="main", **{"as": "t"})["transition"]
        other.ask("complete", **{"as": "t"})
        return started["id"]

    def next_ended() -> Callable[[], dict]:
        return follower.tell("next", name="transition.ended", **{"as": "events"})

    first = turn()
    assert next_ended()()["event"]["data"]["id"] == first
    assert between.has_exchanged()
    request = b"/events HTTP"
    streams = between.asked(request)
    between.freeze()
    # Some clients read only while somebody waits for an event.
    waiting = next_ended()
    between.until_asked(request, streams + in_vain)
    between.thaw()
    ids = [turn() for _ in range(3)]
    told = [waiting(), next_ended()(), next_ended()()]
    assert [answer["event"]["data"]["id"] for answer in told] == ids
    assert between.asked(request) > streams + in_vain


def test_a_stream_that_does_not_open(daemon, agent, proxy):
    running = daemon()
    between = proxy(running)
    follower = agent(between, "follower", patience=1)
    # As a proxy does that waits for more before it passes anything on.
    between.freeze()
    follower.ask("follow", scene="main", **{"as": "e"})
    assert follower.ask("next", name="transition.running", **{"as": "e"}) == {"error": "unreachable"}


@pytest.mark.skipif(IS_SHARED, reason="the stream that is shared begins with an id too")
def test_a_stream_of_all_scenes_that_is_cut_before_its_first_event(daemon, agent, proxy):
    running = daemon()
    between = proxy(running)
    follower, other = agent(between, "follower"), agent(running, "other")
    follower.ask("follow", scene=None, **{"as": "events"})
    # It begins with an id that has no event.
    between.until_passed(b"id: ", "down")
    between.hold()
    started = other.ask("start", scene="main", **{"as": "t"})["transition"]
    between.pass_on()
    assert follower.ask("next", name="transition.running", **{"as": "events"})["event"]["data"]["id"] == started["id"]


def test_events_with_any_text(daemon, agent):
    running = daemon()
    holder, follower = agent(running, "holder"), agent(running, "follower")
    held = holder.ask("start", scene="main", **{"as": "t"})["transition"]
    follower.ask("follow", scene="main", **{"as": "events"})
    # Some take these for the end of a line.
    reason = "one\u2028two\u2029three: \U0001f6a7"
    assert running.ask("POST", "/transitions/revoke", {"id": held["id"], "reason": reason})[0] == 200
    assert follower.ask("next", name="transition.ended", **{"as": "events"})["event"]["data"]["reason"] == reason


@not_shared
@pytest.mark.parametrize("call", ["start", "serialize"])
def test_a_request_that_is_given_up_after_its_answer_was_cut_off(daemon, agent, proxy, call):
    running = daemon()
    between = proxy(running)
    client, other = agent(between, "view", patience=0), agent(running, "other")
    # From now on it has a session.
    client.ask("start", scene="elsewhere", **{"as": "t"})
    client.ask("complete", **{"as": "t"})
    # Before the first line is whole, libcurl would send it again by itself.
    between.cut_after(60, "down")
    assert client.ask(call, scene="main", options={"leaseSeconds": 300}, **{"as": "u"}) == {"error": "unreachable"}
    assert between.has_cut("down")
    assert [found["outcome"] for found in transitions(running, "main")] == ["cancelled"]
    assert other.ask("start", scene="main", **{"as": "t"})["transition"]["state"] == "running"


# With the first, the daemon seems to say that it has not done what it has done, in words that no client knows.
@not_shared
@pytest.mark.parametrize("old, new", [(b"HTTP/1.1 201", b"HTTP/1.1 503"), (b'{"id":', b'<"id":')])
@pytest.mark.parametrize("call", ["start", "serialize"])
def test_an_answer_after_which_a_request_may_have_happened(daemon, agent, proxy, call, old, new):
    running = daemon()
    between = proxy(running)
    client, impatient = agent(between, "view"), agent(between, "impatient", patience=0)
    for each in [client, impatient]:
        # From now on it has a session.
        each.ask("start", scene="elsewhere", **{"as": "t"})
        each.ask("complete", **{"as": "t"})
    between.exchange(old, new)
    assert client.ask(call, scene="main", **{"as": "t"})["transition"]["state"] == "running"
    assert between.has_exchanged()
    assert client.ask("complete", **{"as": "t"})["transition"]["outcome"] == "completed"
    between.exchange(old, new)
    assert impatient.ask(call, scene="main", **{"as": "t"})["error"] in ["refused", "unreachable"]
    assert between.has_exchanged()
    # What it had begun has been given up.
    assert [found["outcome"] for found in transitions(running, "main")] == ["completed", "cancelled"]


def test_close(daemon, agent):
    running = daemon()
    client, other = agent(running, "view"), agent(running, "other")
    client.ask("start", scene="main", options={"leaseSeconds": 300}, **{"as": "t"})
    lost = client.tell("lost", **{"as": "t"})
    waiting = client.tell("serialize", scene="main", **{"as": "u"})
    until_queued(running, 1)
    next_in_line = other.tell("serialize", scene="main", **{"as": "t"})
    until_queued(running, 2)
    assert client.ask("close") == {}
    assert lost() == {"outcome": "expired", "reason": "session-lost"}
    ended = client.ask("complete", **{"as": "t"})
    assert (ended["error"], ended["outcome"], ended["reason"]) == ("ended", "expired", "session-lost")
    assert waiting() == {"error": "closed"}
    assert next_in_line()["transition"]["state"] == "running"
    # Also where it would have to be patient.
    running.kill()
    for call in ["start", "serialize", "hierarchy"]:
        assert client.ask(call, scene="main", **{"as": "v"}) == {"error": "closed"}
    assert client.ask("ready", id="t-0000000000000") == {"error": "closed"}
    assert client.ask("declare", scene="main", storyboard=NAV) == {"error": "closed"}
    assert client.ask("close") == {}


def test_close_without_a_daemon(daemon, agent):
    running = daemon()
    client = agent(running, "view")
    client.ask("start", scene="main", options={"leaseSeconds": 300}, **{"as": "t"})
    running.kill()
    assert client.ask("close") == {}
    ended = client.ask("complete", **{"as": "t"})
    assert (ended["error"], ended["outcome"], ended["reason"]) == ("ended", "expired", "session-lost")


def test_what_is_wrong_is_refused_at_once(daemon, agent):
    running = daemon()
    assert agent(running, "view").ask("misuse") == {"accepted": []}
    assert transitions(running, "misused") == []
