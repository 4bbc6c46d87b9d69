"""What arbiterctl asks for once although it is sent twice, on a condition, or without telling anybody."""

import json
import os
import subprocess

import pytest
from conftest import Tool
from test_arbiterctl_commands import PUSH, TREE, said, shown, started
from waiting import PATIENCE

KEY = "a-key-that-nobody-else-has"


def unheard(tool: Tool, *arguments: str, output: int) -> subprocess.CompletedProcess:
    """Runs the tool with an output, which is closed."""
    run = subprocess.run(
        [tool.path, *arguments], env=tool.environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.PIPE,
        text=True, timeout=PATIENCE)
    os.close(output)
    return run


def full() -> int:
    return os.open("/dev/full", os.O_WRONLY)


def closed_pipe() -> int:
    reading, writing = os.pipe()
    os.close(reading)
    return writing


@pytest.mark.parametrize("output, reason", [(full, "No space left on device"), (closed_pipe, "Broken pipe")])
@pytest.mark.parametrize("command", [["start"], ["start", "--json"], ["serialize"]], ids=" ".join)
def test_a_transition_that_nobody_is_told_of_is_ended(tool, command, output, reason):
    run = unheard(tool, *command, "--lease", "300", output=output())
    assert (run.returncode, run.stderr) == (125, f"arbiterctl: standard output: {reason}\n")
    (transition,) = tool.daemon.ask("GET", "/transitions")[1]["transitions"]
    assert transition["outcome"] == "cancelled"
    # It is free again.
    started(tool)


def test_no_connection_stands_in_for_an_output_that_is_closed(tool):
    run = subprocess.run(
        ["bash", "-c", f"exec {tool.path} start --lease 300 >&-"], env=tool.environment, stderr=subprocess.PIPE, text=True,
        timeout=PATIENCE)
    assert (run.returncode, run.stderr) == (125, "arbiterctl: standard output: Bad file descriptor\n")
    started(tool)


def test_an_answer_without_a_lock_that_cannot_be_written_is_no_error_of_the_daemon(tool):
    assert tool.daemon.ask("PUT", "/scenes/main/storyboard", TREE)[0] == 200
    select = json.dumps({"type": "select", "tabs": "tabs", "index": 0})
    run = unheard(tool, "start", "--operation", select, output=full())
    assert (run.returncode, run.stderr) == (125, "arbiterctl: standard output: No space left on device\n")


@pytest.mark.parametrize("command", ["start", "serialize"])
def test_the_same_key_gets_the_same_transition(tool, command):
    request = [command, "--key", KEY, "--lease", "300"]
    first = said(tool, *request)
    assert said(tool, *request) == first
    assert "idempotency-key-reused" in said(tool, *request, "--client", "other", code=125)
    id, token = first.split()
    said(tool, "end", id, token)
    assert "completed" in said(tool, *request, code=123)


@pytest.mark.parametrize("key", ["short", "a" * 129, "a key that has spaces", "a-key-that-is-nön-ascii"])
def test_a_key_has_a_form(tool, key):
    assert "--key must be 16 to 128 visible ASCII characters" in said(tool, "start", f"--key={key}", code=64)


def test_a_storyboard_is_replaced_only_if_it_is_the_one_that_was_read(tool):
    assert "revision-mismatch" in said(tool, "storyboard", "set", "--if-match", "*", "-", given="{}", code=125)
    said(tool, "storyboard", "set", "-", given=json.dumps(TREE))
    tag = said(tool, "storyboard", "get", "--tag").strip()
    assert tag.startswith('"') and tag.endswith('"')
    assert "revision 2" in said(tool, "storyboard", "set", "--if-match", tag, "-", given=json.dumps(TREE))
    assert "revision-mismatch" in said(tool, "storyboard", "set", "--if-match", tag, "-", given="{}", code=125)
    assert json.loads(said(tool, "storyboard", "get"))["root"]["id"] == "tabs"
    said(tool, "storyboard", "set", "--if-match", "*", "-", given="{}")


@pytest.mark.parametrize("arguments, reason", [
    (["--if-match", "7"], "with its quotation marks"), (["--if-match", '"a" "b"'], "with its quotation marks"),
    (["--if-match", "*", "--if-undeclared"], "give either --if-match or --if-undeclared"),
])
def test_a_tag_has_a_form(tool, arguments, reason):
    assert reason in said(tool, "storyboard", "set", *arguments, "-", given="{}", code=64)


def test_the_queue_as_json_has_the_revision(tool):
    said(tool, "storyboard", "set", "-", given=json.dumps(TREE))
    id, token = started(tool, "--operation", PUSH)
    queue = json.loads(said(tool, "queue", "--json"))
    assert (queue["revision"], [each["id"] for each in queue["running"]], queue["queue"]) == (1, [id], [])
    said(tool, "end", id, token)
    assert json.loads(said(tool, "queue", "--json")) == {"revision": 2, "running": [], "queue": [], "guards": []}
    assert shown(tool, id)["outcome"] == "completed"


def test_a_turn_and_an_await_wait_for_a_state(tool):
    said(tool, "storyboard", "set", "-", given=json.dumps(TREE))
    top = ["await", "--controller", "editor"]
    assert "the time is over" in said(tool, *top, "--is", "top", "--wait", "0", code=124)
    assert said(tool, *top, "--is-not", "top") == "editor is not top\n"
    unmet = ["--expect", '{"controller":"editor","is":"exists"}']
    assert "Expected: editor exists" in said(tool, "serialize", *unmet, code=123)
    assert "Expected: editor exists" in said(tool, "serialize", *unmet, "--unmet-wait", "0.1", code=123)
    ticket = {"expect": {"controller": "editor", "is": "exists"}, "unmet": "wait", "queueSeconds": 60}
    assert tool.daemon.ask("POST", "/transitions/serialize", ticket)[0] == 202
    row = next(line for line in said(tool, "queue").splitlines() if line.startswith("aside"))
    assert "waits for editor exists; found: absent" in row
    id, token = started(tool, "--operation", PUSH)
    said(tool, "end", id, token)
    assert said(tool, *top, "--is", "top") == "editor is top\n"
    assert [line.split()[0] for line in said(tool, "queue").splitlines()].count("running") == 1


def test_several_operations_are_one(tool):
    said(tool, "storyboard", "set", "-", given=json.dumps(TREE))
    push = json.loads(PUSH)
    operations = json.dumps([push, {"type": "present", "controller": "alert"}])
    id, token = started(tool, "--operation", operations)
    row = next(line for line in said(tool, "queue").splitlines() if line.startswith("running"))
    assert "push editor" in row
    said(tool, "end", id, token)
    assert [each["type"] for each in shown(tool, id)["operations"]] == ["push", "present"]
    id, token = started(tool)
    said(tool, "perform", id, token, "--operation", json.dumps([{"type": "dismiss", "controller": "alert"}, {**push, "controller": "next"}]))
    said(tool, "end", id, token)
    assert shown(tool, id)["inserted"] == ["next"]


def test_an_error_over_a_socket_names_its_path(tool, tmp_path):
    reason = said(tool, "scenes", "--url", f"unix:{tmp_path}/none", "--patience", "0", code=125)
    assert f"{tmp_path}/none" in reason and "localhost" not in reason
