"""Recordings, held to the rules of their formats."""

import json
import subprocess
from collections import defaultdict

import pytest

NAV = {"root": {"id": "nav", "kind": "navigation", "children": ["list"]}}


@pytest.fixture
def played(tool):
    """A daemon in which one transition was completed, one expired, one was revoked, one runs and one waits."""
    ask = tool.daemon.ask
    ask("PUT", "/scenes/main/storyboard", NAV)

    def started(**request):
        return ask("POST", "/transitions/start", request)[1]

    def act(call, transition, **more):
        assert ask("POST", f"/transitions/{call}", {"id": transition["id"], "token": transition["token"], **more})[0] == 200

    first = started(client="list", operation={"type": "push", "navigation": "nav", "controller": "editor"})
    waiting = ask("POST", "/transitions/serialize", {"client": "editor", "ticketSeconds": 300})[1]
    # A ticket that is granted in the millisecond of its request has no wait in a recording.
    ask("GET", f"/transitions/await?id={waiting['id']}&wait=0.01")
    act("end", first)
    act("renew", waiting)
    act("end", waiting)
    expiring = started(client="list", leaseSeconds=0.1)
    ask("GET", f"/transitions/await?id={expiring['id']}&until=ended")
    revoked = started(client="a <b>'s \u00e4")
    ask("POST", "/transitions/revoke", {"id": revoked["id"], "reason": "a test"})
    started(client="list", scope=["nav"], leaseSeconds=300)
    ask("POST", "/transitions/serialize", {"client": "editor", "scope": ["list"], "ticketSeconds": 300})
    ask("POST", "/transitions/start", {"scene": "other", "leaseSeconds": 300})
    for _ in range(2):
        ask("POST", "/transitions/serialize", {"client": "taps", "coalesce": {"key": "tab"}, "ticketSeconds": 300})
    return tool


def saved(tool, tmp_path, *arguments: str) -> str:
    file = tmp_path / "recording"
    run = tool.run("trace", "-o", str(file), *arguments)
    assert run.returncode == 0, run.stderr
    assert list(tmp_path.glob("*.part")) == []
    return file.read_text()


def test_a_recording_has_the_events_of_the_stream(played, tmp_path):
    header, *lines = map(json.loads, saved(played, tmp_path, "--scene", "main").splitlines())
    assert (header["trace"], header["form"], header["scene"], header["dropped"]) == ("transition-arbiter", 1, "main", 0)
    scene = played.daemon.ask("GET", "/scenes/main")[1]
    assert header["scenes"][0]["hierarchy"] == scene["hierarchy"]
    assert header["scenes"][0]["lastEvent"] == len(lines) == int(lines[-1]["id"])
    stream = played.daemon.follow("/scenes/main/events?since=0")
    for line in lines:
        assert stream.next(line["event"]) == line["data"]


def test_what_was_dropped_is_said(played, tmp_path):
    played.daemon.kill()
    played.daemon.restart()
    played.daemon.ask("POST", "/transitions/start", {"scene": "new"})
    header, *lines = map(json.loads, saved(played, tmp_path, "--scene", "main").splitlines())
    assert header["dropped"] + len(lines) == header["scenes"][0]["lastEvent"]
    header, *lines = map(json.loads, saved(played, tmp_path, "--scene", "new").splitlines())
    assert (header["dropped"], len(lines)) == (0, header["scenes"][0]["lastEvent"])


def test_a_recording_of_all_scenes(played, tmp_path):
    header, *lines = map(json.loads, saved(played, tmp_path).splitlines())
    assert [scene["name"] for scene in header["scenes"]] == ["main", "other"]
    assert {line["data"]["scene"] for line in lines} == {"main", "other"}
    assert "scene" not in header


def test_a_recording_for_perfetto_keeps_the_rules_of_its_format(played, tmp_path):
    trace = json.loads(saved(played, tmp_path, "--format", "chrome"))
    assert trace["otherData"]["dropped"] == 0
    events = trace["traceEvents"]
    names = {"process_name": {}, "thread_name": {}}
    by_phase = defaultdict(list)
    for event in events:
        assert {"ph", "name", "pid", "tid"} <= event.keys()
        by_phase[event["ph"]].append(event)
    for event in by_phase["M"]:
        names[event["name"]][(event["pid"], event["tid"])] = event["args"]["name"]
    assert set(names["process_name"].values()) == {"arbiterd", "taps", "list", "editor", "a <b>'s \u00e4", "a client without a name"}
    # Those of the counters, too.
    assert {event["pid"] for event in events} == {process for process, _ in names["process_name"]}
    assert set(names["thread_name"].values()) == {"main", "main / nav", "main / list", "other"}
    assert by_phase.keys() == set("MCXsftbei")

    # The slices of a thread are one after the other, or one inside the other.
    threads = defaultdict(list)
    for event in by_phase["X"]:
        assert event["dur"] >= 0
        threads[event["pid"], event["tid"]].append((event["ts"], -event["dur"]))
        assert (event["pid"], event["tid"]) in names["thread_name"]
    for slices in threads.values():
        ends = []
        for begin, length in sorted(slices):
            while ends and ends[-1] <= begin:
                ends.pop()
            assert not ends or begin - length <= ends[-1]
            ends.append(begin - length)

    # A wait begins and ends; a flow begins in a slice, and leads on.
    waits = {event["id"]: event["ts"] for event in by_phase["e"]}
    assert len(waits) == len(by_phase["b"])
    # The superseded one may have waited for less than a millisecond.
    assert len(waits) in (3, 4)
    assert all(event["ts"] < waits[event["id"]] for event in by_phase["b"])
    begun = {event["id"]: event["ts"] for event in by_phase["s"]}
    assert len(begun) == 9
    slices = [(event["pid"], event["tid"], event["ts"], event["ts"] + event["dur"]) for event in by_phase["X"]]
    for event in by_phase["s"] + by_phase["t"] + by_phase["f"]:
        assert begun[event["id"]] <= event["ts"]
        thread = (event["pid"], event["tid"])
        assert any(thread == (process, name) and begin <= event["ts"] < end for process, name, begin, end in slices)
    # What never had the lock ends in a slice of its own.
    assert [event["dur"] for event in by_phase["X"] if event["name"] == "superseded: lock"] == [1]
    # A request without a wait is inside the slice of its lock, which has to come first for that.
    thread = {}
    for event in by_phase["X"]:
        before = thread.get((event["pid"], event["tid"], event["ts"]))
        assert before is None or before >= event["dur"]
        thread[event["pid"], event["tid"], event["ts"]] = event["dur"]
    assert sorted(event["name"] for event in by_phase["i"]) == ["expired: lock", "revoked: lock"]
    last = {event["name"]: event["args"] for event in by_phase["C"]}
    assert last["in main"] == {"running": 1, "waiting": 2}
    assert last["in other"] == {"running": 1, "waiting": 0}


def test_what_is_unfinished_is_in_a_recording_for_perfetto_without_its_events(tool, tmp_path):
    ask = tool.daemon.ask
    ask("PUT", "/scenes/main/storyboard", {"root": {"id": "tabs", "kind": "tabs", "children": [NAV["root"], "settings"]}})
    ask("POST", "/transitions/start", {"scope": ["settings"], "client": "keeper", "leaseSeconds": 300})
    # A scene keeps 1 MiB of events.
    for number in range(20):
        controllers = [f"{number}-{index}-{'a' * 40}" for index in range(1000)]
        operation = {"type": "setStack", "navigation": "nav", "controllers": controllers}
        owned = ask("POST", "/transitions/start", {"operation": operation, "scope": "operation"})[1]
        assert ask("POST", "/transitions/end", {"id": owned["id"], "token": owned["token"]})[0] == 200
    trace = json.loads(saved(tool, tmp_path, "--format", "chrome", "--scene", "main"))
    assert trace["otherData"]["dropped"] > 0
    kept = [event for event in trace["traceEvents"] if event.get("args", {}).get("client") == "keeper"]
    assert {event["name"] for event in kept} == {"request", "lock"}


@pytest.mark.parametrize("form", ["jsonl", "chrome"])
def test_what_was_saved_is_said(played, tmp_path, form):
    file = str(tmp_path / "x")
    run = played.run("trace", "--scene", "other", "--format", form, "-o", file)
    assert (run.stdout, run.stderr) == ("", f"{file}: 1 event\n")
    run = played.run("trace", "--scene", "other", "--format", form, "-o", file, "--json")
    assert json.loads(run.stdout) == {"file": file, "events": 1, "dropped": 0}


def test_a_full_disk_is_said(played):
    with open("/dev/full", "w") as full:
        run = subprocess.run(
            [played.path, "trace"], env=played.environment, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60,
            check=False)
    assert (run.returncode, run.stderr) == (125, "arbiterctl: standard output: No space left on device\n")


def test_what_cannot_be_recorded_is_refused(played, tmp_path):
    run = played.run("trace", "--scene", "none", "-o", str(tmp_path / "x"))
    assert run.returncode == 125 and "unknown-scene" in run.stderr
    assert list(tmp_path.glob("x*")) == []
    assert played.daemon.ask("GET", "/trace?format=chrome")[0] == 400
    assert played.run("trace", "-o", "/nowhere/x").returncode == 64


def test_a_long_recording_is_whole(played, tmp_path):
    for _ in range(400):
        owned = played.daemon.ask("POST", "/transitions/start", {"scene": "long", "client": "x" * 120})[1]
        played.daemon.ask("POST", "/transitions/end", {"id": owned["id"], "token": owned["token"]})
    header, *lines = map(json.loads, saved(played, tmp_path, "--scene", "long").splitlines())
    assert [line["id"] for line in lines] == [str(number) for number in range(1, header["scenes"][0]["lastEvent"] + 1)]
    assert len(lines) >= 800
