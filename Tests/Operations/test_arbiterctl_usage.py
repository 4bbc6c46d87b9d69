"""What arbiterctl says of a command line that is wrong, and of files that it cannot use."""

import json
import subprocess
import time

import pytest
from test_arbiterctl_commands import said


@pytest.mark.parametrize("arguments, reason", [
    (["end", "t-aaaaaaaaaaaaa"], "ARBITER_TRANSITION_TOKEN"), (["end", "../x", "t"], "is not the id"),
    (["await"], "either the id"), (["await", "t-aaaaaaaaaaaaa", "--idle"], "either the id"),
    (["await", "a&b"], "is not the id"), (["start", "--further", "[]"], "must be a JSON object"),
    (["start", "--operation", "push"], "must be a JSON object"), (["queue", "--watch"], "needs a terminal"),
    (["start", "--scope", "a,,b"], "--scope has an empty id"), (["start", "--scope", ""], "--scope has an empty id"),
    (["progress", "t-aaaaaaaaaaaaa", "t"], "--fraction"), (["revoke", "t-aaaaaaaaaaaaa"], "--reason"),
    (["revoke", "t-aaaaaaaaaaaaa", "--of", "menu", "--reason", "x"], "--of goes with --scene"),
    (["revoke", "--scene", "main", "--client", "menu", "--reason", "x"], "--of says whose"),
    (["await", "--idle", "--until", "granted"], "--until goes with the id"),
    (["await", "t-aaaaaaaaaaaaa", "--quiet-seconds", "1"], "--quiet-seconds goes with --idle"),
    (["await", "t-aaaaaaaaaaaaa", "--scene", "main"], "--scene goes with --idle or --controller"),
    (["await", "--idle", "--controller", "nav", "--is", "top"], "either --is or --is-not"),
    (["await", "--controller", "nav"], "either --is or --is-not"), (["await", "--idle", "--is", "top"], "either --is or --is-not"),
    (["await", "--controller", "nav", "--is", "top", "--is-not", "top"], "either --is or --is-not"),
    (["serialize", "--unmet-wait", "-1"], "--unmet-wait must be 0 to 86400"),
    (["serialize", "--expect", "nav"], "--expect must be JSON"), (["trace", "--json"], "--json goes with --output"),
])
def test_what_is_wrong_is_said(tool, arguments, reason):
    assert reason in said(tool, *arguments, code=64)


def test_no_command_has_an_option_twice(tool):
    def check(command: dict) -> None:
        names = [name["name"] for argument in command.get("arguments", []) for name in argument.get("names", [])]
        # The parser's own description of `help` is not exact.
        assert command["commandName"] == "help" or sorted(names) == sorted(set(names)), command["commandName"]
        for inner in command.get("subcommands", []):
            check(inner)

    check(json.loads(said(tool, "--experimental-dump-help"))["command"])


@pytest.mark.parametrize("number", ["nan", "inf", "-inf", "-1", "1e99", "0x"])
@pytest.mark.parametrize("arguments", [
    ["progress", "t-aaaaaaaaaaaaa", "t", "--fraction"], ["serialize", "--wait"], ["serialize", "--lease"],
    ["await", "--idle", "--quiet-seconds"], ["await", "--idle", "--wait"], ["scenes", "--patience"],
], ids=" ".join)
def test_a_number_that_is_none_is_refused(tool, arguments, number):
    *others, option = arguments
    assert option in said(tool, *others, f"{option}={number}", code=64)


@pytest.mark.parametrize("arguments, reason", [
    (["serialize", "--wait", "-1"], "--wait must be 0 to"), (["start", "--lease", "-5"], "--lease must be more than 0"),
    (["scenes", "--patience", "-1"], "--patience must be 0 to"), (["watch", "--since", "-1"], "--since must be the id"),
    (["await", "--idle", "--quiet-seconds", "-1"], "0 to 120"),
])
def test_a_negative_number_is_told_the_range(tool, arguments, reason):
    assert reason in said(tool, *arguments, code=64)


@pytest.mark.parametrize("url", [
    "http://127.0.0.1:99999", "http://127.0.0.1:0", "http://127.0.0.1:port", "http://[::1", "http://", "http:///x",
    "http://a b", "http://a?b", "unix:", "unix:socket"])
def test_an_address_that_cannot_be_one_is_refused_at_once(tool, url):
    assert "the URL" in (reason := said(tool, "scenes", "--url", url, code=64)) or "absolute path" in reason


@pytest.mark.parametrize("url", ["http://localhost:1", "http://a_b.invalid", "https://[::1]:1", "http://127.0.0.1:1/prefix/"])
def test_an_address_that_can_be_one_is_tried(tool, url):
    assert "cannot be reached" in said(tool, "scenes", "--patience", "0", "--url", url, code=125)


def test_a_variable_that_is_empty_counts_as_unset(tool):
    said(tool, "scenes", ARBITER_TOKEN="")
    said(tool, "end", "t-aaaaaaaaaaaaa", ARBITER_TRANSITION_TOKEN="", code=64)


def test_the_patience_is_used_up(tool):
    begun = time.monotonic()
    said(tool, "scenes", "--patience", "1", "--url", "http://127.0.0.1:1", code=125)
    assert time.monotonic() - begun >= 1


def test_doctor_has_no_patience(tool):
    assert "--patience" not in said(tool, "doctor", "--help")


@pytest.mark.parametrize("arguments", [["scenes"], ["doctor"], ["trace"], ["--help"]], ids=" ".join)
def test_output_that_cannot_be_written_is_said(tool, arguments):
    with open("/dev/full", "w") as full:
        run = subprocess.run(
            [tool.path, *arguments], env=tool.environment, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (run.returncode, run.stderr) == (125, "arbiterctl: standard output: No space left on device\n")


def test_a_velocity_is_finite(tool):
    said(tool, "progress", "t-aaaaaaaaaaaaa", "t", "--fraction", "0", "--velocity", "-inf", code=64)


def test_what_a_file_makes_impossible_is_said_in_one_line(tool, tmp_path):
    (tmp_path / "broken.json").write_text('{"root": ')
    deep = '{"[\\"": ' * 513 + "1" + "}" * 513
    (tmp_path / "deep.json").write_text(deep)
    (tmp_path / "lines").write_text("a\nb\n")
    (tmp_path / "binary").write_bytes(b"\x00\xff\xfe")
    for arguments, reason in [
        (["tree", "--token-file", f"{tmp_path}/lines"], f"{tmp_path}/lines: it has more than one line"),
        (["tree", "--token-file", f"{tmp_path}/binary"],
         f"{tmp_path}/binary: it has other characters than those of a token"),
        (["tree", "--authority", "/nowhere"], "/nowhere: No such file or directory"),
        (["doctor", "--authority", "/"], "/: Is a directory"),
        (["storyboard", "check", "/nowhere"], "/nowhere: No such file or directory"),
        (["storyboard", "set", "/"], "/: Is a directory"),
        (["storyboard", "check", f"{tmp_path}/broken.json"], f"{tmp_path}/broken.json: it is not JSON"),
        (["storyboard", "diff", f"{tmp_path}/deep.json"],
         f"{tmp_path}/deep.json: it has 513 levels of objects and arrays, and arbiterctl reads 512 at most"),
        (["tree", "--token-file", "/nowhere"], "/nowhere: No such file or directory"),
        (["trace", "-o", "/nowhere/trace"], "/nowhere/trace.part: No such file or directory"),
        (["trace", "-o", "/dev/null"], "/dev/null: this is no regular file"),
    ]:
        assert said(tool, *arguments, code=64) == f"arbiterctl: {reason}\n"


def test_a_file_may_be_a_pipe(tool):
    checked = subprocess.run(
        ["bash", "-c", f"{tool.path} storyboard check <(echo '{{}}')"], env=tool.environment, capture_output=True)
    assert checked.returncode == 0, checked.stderr
