"""Hierarchies that clients keep by events: whatever happens, they are those of the daemon."""

import pytest
from harness import Agent, Daemon, events

STORYBOARD = {
    "root": {
        "id": "tabs", "kind": "tabs", "children": [
            {"id": "nav", "kind": "navigation", "children": ["list"]},
            {"id": "split", "kind": "split", "secondary": "detail",
             "primary": {"id": "primary", "kind": "navigation", "children": ["master"]}},
        ]},
    "transitionTypes": [{"name": "star", "duration": 0.1}],
    "segues": [
        {"source": "list", "identifier": "edit", "kind": "show", "destination": "editor"},
        {"source": "sheet", "identifier": "back", "kind": "unwind", "destination": "list"},
    ],
}
PUSH = {"type": "push", "navigation": "nav", "controller": "editor"}
POP = {"type": "pop", "navigation": "nav"}
# Begins the request for a whole scene.
READING = b"GET /scenes/main HTTP"
# Each changes the hierarchy that those before it have left.
OPERATIONS = [
    PUSH,
    POP,
    {"type": "segue", "source": "list", "identifier": "edit"},
    {"type": "present", "presenter": "editor", "controller": {"id": "sheet", "presentationStyle": "pageSheet"}},
    {"type": "present", "controller": {"id": "modal", "kind": "navigation", "children": ["form"]}},
    {"type": "push", "navigation": "modal", "controller": "details"},
    {"type": "dismiss", "controller": "sheet"},
    {"type": "segue", "source": "sheet", "identifier": "back"},
    {"type": "setStack", "navigation": "nav", "controllers": ["a", "list", "b", "c"]},
    {"type": "setStack", "navigation": "nav", "controllers": ["c", "list", "a", "b"]},
    {"type": "popTo", "navigation": "nav", "controller": "a"},
    {"type": "popToRoot", "navigation": "nav"},
    {"type": "select", "tabs": "tabs", "index": 1},
    {"type": "collapse", "split": "split"},
    {"type": "showDetail", "split": "split", "controller": {"id": "stack", "kind": "navigation", "children": ["item"]}},
    {"type": "expand", "split": "split"},
    {"type": "showDetail", "split": "split", "controller": {"id": "stack", "kind": "navigation", "children": ["other"]}},
    {"type": "setTabs", "tabs": "tabs", "controllers": ["first", "split", {"id": "more", "kind": "tabs"}, "nav"]},
    {"type": "setTabs", "tabs": "more", "controllers": ["one", "two"], "selected": 1},
    {"type": "setTabs", "tabs": "tabs", "controllers": ["more", "first"]},
    {"type": "insertTab", "tabs": "more", "controller": {"id": "zero", "kind": "navigation"}, "index": 0},
    {"type": "insertTab", "tabs": "more", "controller": "three"},
    {"type": "removeTab", "tabs": "more", "controller": "two"},
    # A part of it comes and goes, and what is told is the rest.
    [{"type": "setTabs", "tabs": "tabs", "controllers": ["split", "first"]},
     {"type": "present", "presenter": "tabs", "controller": "passing"},
     {"type": "dismiss", "controller": "tabs"},
     {"type": "present", "presenter": "tabs", "controller": {"id": "modal", "kind": "navigation", "children": ["form"]}},
     {"type": "push", "navigation": "modal", "controller": "details"}],
    # What moves within a split is told as a whole.
    [{"type": "setRoot", "controller": {"id": "tabs", "kind": "tabs", "children": [
        {"id": "split", "kind": "split", "primary": {"id": "primary", "kind": "navigation", "children": ["master"]},
         "secondary": "detail"}]}}],
    [{"type": "collapse", "split": "split"}, {"type": "push", "navigation": "primary", "controller": "item"}],
    {"type": "setTabs", "tabs": "tabs", "controllers": []},
    {"type": "setRoot", "controller": {"id": "other", "kind": "split", "primary": "left", "supplementary": "middle"}},
    {"type": "collapse", "split": "other"},
    {"type": "showDetail", "split": "other", "controller": "right"},
    {"type": "expand", "split": "other"},
    {"type": "setRoot", "controller": {
        "id": "mail", "kind": "split", "primary": {"id": "boxes", "kind": "navigation", "children": ["box"]},
        "supplementary": "letters", "secondary": {"id": "letter", "kind": "navigation", "children": ["text"]}}},
    {"type": "collapse", "split": "mail", "topColumn": "supplementary"},
    {"type": "showColumn", "split": "mail", "column": "secondary"},
    {"type": "push", "navigation": "boxes", "controller": "person"},
    {"type": "setColumn", "split": "mail", "column": "supplementary", "controller": "others"},
    {"type": "showColumn", "split": "mail", "column": "primary"},
    {"type": "showColumn", "split": "mail", "column": "secondary"},
    {"type": "push", "navigation": "boxes", "controller": "attachment"},
    {"type": "pop", "navigation": "boxes"},
    {"type": "popToRoot", "navigation": "boxes"},
    {"type": "showColumn", "split": "mail", "column": "secondary"},
    {"type": "push", "navigation": "boxes", "controller": "attachment"},
    {"type": "expand", "split": "mail"},
    {"type": "setColumn", "split": "mail", "column": "supplementary", "controller": None},
    # The columns go back to where they were; a column that is removed with its stack is told too.
    [{"type": "collapse", "split": "mail"}, {"type": "push", "navigation": "boxes", "controller": "person"},
     {"type": "expand", "split": "mail"}],
    {"type": "setColumn", "split": "mail", "column": "primary", "controller": "alone"},
]


def perform(daemon: Daemon, operation: dict | list, **options: object) -> None:
    """Completes a transition with an operation, or with several."""
    does = {"operations" if isinstance(operation, list) else "operation": operation}
    begun = daemon.ask("POST", "/transitions/start", {"scene": "main", **does, **options})[1]
    assert begun["state"] == "running", begun
    ended = daemon.ask("POST", "/transitions/end", {"id": begun["id"], "token": begun["token"]})[1]
    assert ended["outcome"] == "completed"


def check(daemon: Daemon, follower: Agent) -> None:
    """What the follower keeps comes to be what the daemon has."""
    scene = daemon.ask("GET", "/scenes/main")[1]
    kept = follower.ask("revision", at=scene["revision"], **{"as": "h"})["hierarchy"]
    assert kept == {"root": scene.get("hierarchy"), "revision": scene["revision"]}


def follow(daemon: Daemon, follower: Agent) -> None:
    """Declares the scene, and has its hierarchy kept."""
    assert daemon.ask("PUT", "/scenes/main/storyboard", STORYBOARD)[0] == 200
    scene = daemon.ask("GET", "/scenes/main")[1]
    first = follower.ask("hierarchy", scene="main", **{"as": "h"})["hierarchy"]
    assert first == {"root": scene["hierarchy"], "revision": 1}


def test_hierarchy_after_each_operation(daemon, agent, proxy):
    running = daemon()
    between = proxy(running)
    follower = agent(between, "follower")
    follow(running, follower)
    for operation in OPERATIONS:
        # The type stays with the controllers that come.
        perform(running, operation, animation={"type": "star"})
        check(running, follower)
        if operation is OPERATIONS[0]:
            readings = between.asked(READING)
    # It has not been read again instead of being changed.
    assert between.asked(READING) == readings
    assert running.ask("GET", "/scenes/main")[1]["revision"] == 1 + len(OPERATIONS)
    kinds = set()
    for name, data in events(running, "main"):
        kinds |= {change["type"] for change in data.get("changes", [])}
        if data.get("revision") == 1 + len(OPERATIONS):
            break
    assert kinds == {"replace", "insert", "remove", "move", "select", "arrange", "collapse", "expand"}


def test_hierarchy_over_a_restart(daemon, agent, proxy):
    running = daemon()
    between = proxy(running)
    follower = agent(between, "follower")
    follow(running, follower)
    perform(running, PUSH)
    check(running, follower)
    readings = between.asked(READING)
    for operation in [POP, PUSH, POP]:
        perform(running, operation)
        running.kill()
        running.start()
        check(running, follower)
    assert between.asked(READING) == readings


def test_hierarchy_that_changes_before_its_stream_begins(daemon, agent, proxy):
    running = daemon()
    between = proxy(running)
    follower = agent(between, "follower")
    between.hold(b"/events HTTP")
    assert running.ask("PUT", "/scenes/main/storyboard", STORYBOARD)[0] == 200
    following = follower.tell("hierarchy", scene="main", **{"as": "h"})
    between.until_passed(b'"lastEvent"', "down")
    perform(running, PUSH)
    between.pass_on()
    following()
    check(running, follower)


def test_hierarchy_whose_stream_does_not_open(daemon, agent, proxy):
    running = daemon()
    between = proxy(running)
    follower = agent(between, "follower", patience=1)
    between.hold(b"/events HTTP")
    assert running.ask("PUT", "/scenes/main/storyboard", STORYBOARD)[0] == 200
    assert follower.ask("hierarchy", scene="main", **{"as": "h"}) == {"error": "unreachable"}


def test_hierarchy_is_current_while_its_events_arrive(daemon, agent):
    running = daemon()
    follower = agent(running, "follower")
    follow(running, follower)
    for _ in range(2):
        assert follower.ask("current", **{"as": "h", "is": True})["hierarchy"]["revision"] == 1
        running.kill()
        assert follower.ask("current", **{"as": "h", "is": False})["hierarchy"]["revision"] == 1
        running.start()
    assert follower.ask("current", **{"as": "h", "is": True})["hierarchy"]["revision"] == 1


def test_hierarchy_over_connections_that_are_cut_after_any_byte(daemon, agent, proxy):
    running = daemon()
    between = proxy(running)
    follower = agent(between, "follower")
    follow(running, follower)
    for number, count in enumerate(range(0, 1500, 97)):
        between.cut_after(count, "down")
        perform(running, POP if number % 2 else PUSH)
        check(running, follower)
    assert between.has_cut("down")


@pytest.mark.parametrize("is_there", [False, True])
def test_hierarchy_of_a_scene_that_goes_and_comes_back(daemon, agent, is_there):
    running = daemon()
    follower = agent(running, "follower")
    if is_there:
        follow(running, follower)
        assert running.ask("DELETE", "/scenes/main")[0] == 204
        assert follower.ask("emptied", **{"as": "h"})["hierarchy"] == {"root": None, "revision": 0}
    else:
        assert follower.ask("hierarchy", scene="main", **{"as": "h"}) == {"hierarchy": {"root": None, "revision": 0}}
    for _ in range(2):
        assert running.ask("PUT", "/scenes/main/storyboard", STORYBOARD)[0] == 200
        perform(running, PUSH)
        check(running, follower)
        assert running.ask("DELETE", "/scenes/main")[0] == 204
        assert follower.ask("emptied", **{"as": "h"})["hierarchy"] == {"root": None, "revision": 0}


def test_hierarchy_whose_changes_are_gone(daemon, agent, proxy):
    running = daemon()
    between = proxy(running)
    follower = agent(between, "follower")
    follow(running, follower)
    follower.ask("follow", scene="main", **{"as": "events"})
    perform(running, PUSH)
    check(running, follower)
    between.hold()
    # Together they are longer than the events that a daemon keeps of a scene.
    for name in ["first", "second"]:
        children = [f"the-{name}-view-number-{number}-of-a-long-list" for number in range(9000)]
        storyboard = {"root": {"id": "nav", "kind": "navigation", "children": children}}
        assert running.ask("PUT", "/scenes/main/storyboard", storyboard)[0] == 200
    between.pass_on()
    follower.ask("next", name="reset", **{"as": "events"})
    check(running, follower)
    perform(running, PUSH)
    check(running, follower)


@pytest.mark.parametrize("old, new", [
    (b'"type":"remove"', b'"type":"felled"'), (b'"id":"editor"}],', b'"id":"poster"}],'),
    (b'"main","revision":3', b'"main","revision":9')])
def test_hierarchy_with_a_change_that_cannot_be_applied(daemon, agent, proxy, old, new):
    running = daemon()
    between = proxy(running)
    follower = agent(between, "follower")
    follow(running, follower)
    perform(running, PUSH)
    check(running, follower)
    readings = between.asked(READING)
    # The second change comes when the first one has been read with the whole.
    between.hold()
    between.exchange(old, new)
    perform(running, POP)
    perform(running, {"type": "push", "navigation": "nav", "controller": "other"})
    between.pass_on()
    check(running, follower)
    perform(running, POP)
    check(running, follower)
    assert between.has_exchanged()
    assert between.asked(READING) == readings + 1
