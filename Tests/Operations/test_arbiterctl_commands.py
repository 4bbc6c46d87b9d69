"""The commands of arbiterctl besides `run`."""

import json
import os
import pty
import select
import signal
import subprocess

import pytest
from conftest import Tool
from waiting import PATIENCE, Lines

TREE = {"root": {"id": "tabs", "kind": "tabs", "children": [
    {"id": "nav", "kind": "navigation", "children": ["list", "detail"]}, "settings"]}}
PUSH = json.dumps({"type": "push", "navigation": "nav", "controller": "editor"})


@pytest.fixture
def declared(tool):
    assert tool.daemon.ask("PUT", "/scenes/main/storyboard", TREE)[0] == 200
    return tool


def said(tool: Tool, *arguments: str, code: int = 0, **more: str) -> str:
    run = tool.run(*arguments, **more)
    assert run.returncode == code, run.stderr
    return run.stdout if code in (0, 1) else run.stderr


def started(tool: Tool, *arguments: str) -> tuple[str, str]:
    id, token = said(tool, "start", "--lease", "300", *arguments).split()
    return id, token


def shown(tool: Tool, id: str) -> dict:
    return tool.daemon.ask("GET", f"/transitions/{id}")[1]


def test_a_transition_step_by_step(declared):
    id, token = started(declared, "--operation", PUSH, "--client", "kiosk")
    assert shown(declared, id)["client"] == "kiosk"
    assert "kiosk" in said(declared, "start", code=124)
    assert said(declared, "renew", id, token).startswith(f"{id}  running  fence 1  lease 300 s")
    # The token may also be in the environment, where other users cannot see it.
    said(declared, "end", id, "--outcome", "completed", ARBITER_TRANSITION_TOKEN=token)
    assert shown(declared, id)["outcome"] == "completed"
    assert "editor" in said(declared, "tree")


def test_further_members_are_those_of_the_wire(tool):
    id, _ = started(tool, "--further", '{"maxHoldSeconds": 60, "leaseSeconds": 5}')
    assert (shown(tool, id)["maxHoldSeconds"], shown(tool, id)["leaseSeconds"]) == (60, 5)


def test_a_turn_is_waited_for(tool):
    id, token = started(tool)
    waiting = tool.begin("serialize", "--json")
    events = tool.daemon.follow("/scenes/main/events?since=0")
    ticket = events.next("transition.queued")["id"]
    said(tool, "end", id, token)
    granted = json.loads(waiting.communicate(timeout=PATIENCE)[0])
    assert (granted["id"], granted["state"], waiting.returncode) == (ticket, "running", 0)
    said(tool, "end", ticket, granted["token"])


def test_a_turn_that_does_not_come_leaves_nothing(tool):
    started(tool)
    assert "did not come in time" in said(tool, "serialize", "--wait", "0.1", code=124)
    assert tool.daemon.ask("GET", "/scenes/main")[1]["queuedCount"] == 0


def test_what_is_impossible_at_its_turn_is_lost(declared):
    operation = json.dumps({"type": "pop", "navigation": "settings"})
    assert "rejected" in said(declared, "serialize", "--operation", operation, code=123)


def test_a_gesture(declared):
    id, token = started(declared, "--further", '{"interactive": true}', "--operation", PUSH)
    said(declared, "progress", id, token, "--fraction", "0.7", "--velocity", "-0.1")
    assert shown(declared, id)["interaction"]["velocity"] == -0.1
    assert said(declared, "release", id, token).startswith("finish, 0.")
    said(declared, "end", id, token)
    assert shown(declared, id)["outcome"] == "completed"


def test_an_operation_for_what_runs(declared):
    id, token = started(declared)
    assert "--operation must be a JSON object" in said(declared, "perform", id, token, "--operation", "[]", code=64)
    absent = '{"controller": "list", "is": "absent"}'
    assert "list" in said(declared, "perform", id, token, "--operation", PUSH, "--expect", absent, code=125)
    said(declared, "perform", id, token, "--operation", PUSH)
    assert shown(declared, id)["operation"]["type"] == "push"
    said(declared, "end", id, token)
    assert "ended" in said(declared, "perform", id, token, "--operation", PUSH, code=125)


def test_a_transition_that_was_taken_away_is_lost(tool):
    id, token = started(tool)
    assert "revoked" in said(tool, "revoke", id, "--reason", "a test")
    for command in ("renew", "end"):
        assert "revoked" in said(tool, command, id, token, code=123)


def test_what_one_client_has_in_a_scene_is_revoked(tool):
    mine, token = started(tool, "--client", "detail")
    asked = [tool.daemon.ask("POST", "/transitions/serialize", {"client": name})[1]["id"] for name in ("menu", "detail")]
    assert "nothing to revoke" in tool.run("revoke", "--scene", "main", "--of", "nobody", "--reason", "a test").stderr
    assert said(tool, "revoke", "--scene", "main", "--of", "menu", "--reason", "a test").split() == asked[:1]
    said(tool, "renew", mine, token)
    assert said(tool, "revoke", "--scene", "main", "--reason", "a test").split() == [mine, asked[1]]


def test_await(tool):
    id, token = started(tool)
    for arguments in ([], [token]):
        assert "the time is over" in said(tool, "await", id, *arguments, "--wait", "0.1", code=124)
    waiting = tool.begin("await", id)
    idle = tool.begin("await", "--idle", "--quiet-seconds", "0.1")
    ticket = tool.daemon.ask("POST", "/transitions/serialize", {})[1]
    never = tool.begin("await", ticket["id"], ticket["token"], "--until", "running")
    said(tool, "revoke", ticket["id"], "--reason", "a test")
    assert never.wait(PATIENCE) == 123
    said(tool, "end", id, token)
    assert waiting.communicate(timeout=PATIENCE)[0] == f"{id}  completed\n"
    assert idle.communicate(timeout=PATIENCE)[0] == "main is idle\n"


def test_a_part_is_idle_beside_what_runs(tool):
    tabs = {"root": {"id": "tabs", "kind": "tabs", "children": ["page", "ticker"]}}
    tool.daemon.ask("PUT", "/scenes/main/storyboard", tabs)
    id, _ = started(tool, "--scope", "ticker", "--client", "ticker")
    assert said(tool, "await", "--idle", "--controller", "page") == "page is idle\n"
    assert f"busy: ticker ({id})" in said(tool, "await", "--idle", "--controller", "tabs", "--wait", "0", code=124)


def test_a_scene_that_is_not_known_is_idle_and_pointed_out(tool):
    run = tool.run("await", "--idle", "--scene", "typo")
    assert (run.returncode, run.stdout) == (0, "typo is idle\n")
    assert "No scene typo is known" in run.stderr


def test_what_is_refused_is_said(tool):
    assert "unknown-transition" in said(tool, "end", "t-aaaaaaaaaaaaa", "a" * 32, code=125)
    assert "unknown-scene" in said(tool, "tree", "--scene", "none", code=125)
    assert "cannot be reached" in said(tool, "scenes", "--url", "http://127.0.0.1:1", "--patience", "0", code=125)


def test_the_tree_shows_what_is_locked(declared):
    id, _ = started(declared, "--scope", "nav", "--client", "kiosk")
    assert said(declared, "tree").splitlines() == [
        "main  revision 1, 1 running, 0 waiting",
        "tabs (tabs)",
        f"├─ * nav (navigation)  locked: lock, by kiosk ({id})",
        "│  ├─ list",
        "│  └─ detail",
        "└─ settings",
    ]
    assert json.loads(said(declared, "tree", "--json"))["id"] == "tabs"


def test_the_tree_is_written_again_after_each_change(declared):
    watching = declared.begin("tree", "--watch")
    lines = Lines(watching.stdout)
    lines.next("settings")
    id, token = started(declared, "--operation", PUSH)
    said(declared, "end", id, token)
    lines.next("revision 2")
    lines.next("editor")
    watching.terminate()
    watching.wait(PATIENCE)


def test_the_queue_says_who_waits_for_whom_and_why(declared):
    started(declared, "--scope", "nav", "--client", "one")
    for client, scope in (("two", "list"), ("three", "settings"), ("four", "scene"), ("five", "settings")):
        body = {"client": client, "ticketSeconds": 300, "scope": scope if scope == "scene" else [scope]}
        assert declared.daemon.ask("POST", "/transitions/serialize", body)[0] in (201, 202)
    lines = {line.split()[1]: line for line in said(declared, "queue").splitlines()[2:]}
    assert "locks nav, lease" in lines["one"]
    assert "list is inside nav" in lines["two"]
    assert lines["three"].startswith("running")
    assert "it needs the whole scene" in lines["four"]
    assert "both lock settings" in lines["five"]


def test_scenes_and_top(declared):
    started(declared, "--client", "kiosk")
    declared.daemon.ask("POST", "/transitions/serialize", {"ticketSeconds": 300})
    declared.daemon.ask("PUT", "/scenes/idle/storyboard", {})
    assert [line.split() for line in said(declared, "scenes").splitlines()[1:]] == [
        ["idle", "1", "0", "0"], ["main", "1", "1", "1"]]
    assert [scene["name"] for scene in json.loads(said(declared, "scenes", "--json"))] == ["idle", "main"]
    top = said(declared, "top").splitlines()
    assert top[0].endswith("scenes: 2, busy: 1, running: 1, waiting: 1")
    assert top[2].split()[:3] == ["main", "kiosk", "lock"]


class Screen:
    """What is written to a terminal."""

    def __init__(self, tool: Tool, *arguments: str) -> None:
        self._terminal, end = pty.openpty()
        self.process = subprocess.Popen(
            [tool.path, *arguments], env={**tool.environment, "TERM": "xterm"}, stdin=end, stdout=end, stderr=end)
        os.close(end)
        self.text = ""

    def wait_for(self, text: str) -> None:
        """Waits until the text is written, or until nothing will be."""
        while text not in self.text:
            assert select.select([self._terminal], [], [], PATIENCE)[0], self.text
            try:
                self.text += os.read(self._terminal, 65_536).decode(errors="replace")
            except OSError:
                break
        assert text in self.text, self.text


def test_a_live_view_is_drawn_on_a_terminal_and_leaves_it_as_it_was(declared):
    screen = Screen(declared, "tree", "--watch")
    screen.wait_for("revision 1")
    assert screen.text.startswith("\x1b[?1049h\x1b[?25l")
    id, token = started(declared, "--operation", PUSH)
    said(declared, "end", id, token)
    screen.wait_for("editor")
    screen.process.send_signal(signal.SIGTERM)
    screen.wait_for("\x1b[?25h\x1b[?1049l")
    assert screen.process.wait(PATIENCE) == 0


def test_a_storyboard_is_declared_checked_and_compared(tool, tmp_path):
    file = tmp_path / "scene.json"
    file.write_text(json.dumps(TREE))
    said(tool, "storyboard", "check", str(file))
    assert "unknown-scene" in said(tool, "storyboard", "get", code=125)
    said(tool, "storyboard", "set", "-", given=json.dumps(TREE))
    assert json.loads(said(tool, "storyboard", "get"))["root"]["id"] == "tabs"
    assert said(tool, "storyboard", "diff", str(file)) == ""
    file.write_text(json.dumps(TREE).replace("settings", "preferences"))
    difference = said(tool, "storyboard", "diff", str(file), code=1).splitlines()
    assert [line.split('"')[-2] for line in difference if line[0] in "-+"] == ["settings", "preferences"]
    assert said(tool, "storyboard", "set", str(file), "--if-undeclared") == "main was declared before\n"
    file.write_text('{"root": {"id": "a", "kind": "carousel"}}')
    assert "root.kind" in said(tool, "storyboard", "check", str(file), code=125)


def test_a_recording_says_how_many_events_are_no_longer_stored(declared, tmp_path):
    file = tmp_path / "trace.jsonl"

    def saved() -> tuple[str, int, int]:
        run = declared.run("trace", "--scene", "main", "-o", str(file))
        assert run.returncode == 0
        header, *events = map(json.loads, file.read_text().splitlines())
        return run.stderr, len(events), header["dropped"]

    assert saved() == (f"{file}: 1 event\n", 1, 0)
    # A scene keeps 1 MiB of events.
    for number in range(12):
        children = [f"{number}-{index}-{'a' * 50}" for index in range(2000)]
        tree = {"root": {"id": "nav", "kind": "navigation", "children": children}}
        assert declared.daemon.ask("PUT", "/scenes/main/storyboard", tree)[0] == 200
    text, count, dropped = saved()
    assert dropped > 0
    assert text == f"{file}: {count} events; {dropped} before them are no longer stored\n"
    summary = json.loads(said(declared, "trace", "--scene", "main", "-o", str(file), "--json"))
    assert summary == {"file": str(file), "events": count, "dropped": dropped}


def test_doctor(tool):
    checks = [line.split()[:2] for line in said(tool, "doctor").splitlines()]
    assert checks == [["ok", name] for name in ("reached", "ready", "identity", "clock")]
    assert said(tool, "--version") == subprocess.run(
        [os.environ["ARBITERD"], "--version"], capture_output=True, text=True, check=True).stdout


def test_doctor_says_what_is_wrong(daemon, tmp_path):
    access = tmp_path / "access.yaml"
    subprocess.run(
        [os.environ["ARBITERD"], "access", "new", "runner", "--role", "transition", "--scene", "ci-*", "--access",
         str(access)], check=True, capture_output=True)
    guarded = Tool(daemon("--access", str(access)))
    run = guarded.run("doctor")
    assert run.returncode == 125
    assert "failed  identity" in run.stdout
