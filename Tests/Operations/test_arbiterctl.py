"""Commands that run while they hold a lock."""

import contextlib
import fcntl
import json
import os
import re
import select
import signal
import subprocess
import sys
import termios
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Tool
from waiting import PATIENCE, Lines

def scene(tool, name: str = "main") -> dict:
    return tool.daemon.ask("GET", f"/scenes/{name}")[1]


def holding(
    tool, *command: str, waits_for: signal.Signals | None = None, options: list[str] = [], before: list[str] = []
) -> subprocess.Popen:
    """A run, with these options, whose command has begun, and has said so; with `waits_for`, it has blocked this signal."""
    block = [] if waits_for is None else [f"import signal; signal.pthread_sigmask(signal.SIG_BLOCK, [{int(waits_for)}])"]
    lines = [*block, "print('begun', flush=True)", *command]
    run = tool.begin("run", *options, "--", sys.executable, "-c", "\n".join(lines), before=before)
    assert run.stdout.readline() == "begun\n"
    return run


def until_told(tool) -> subprocess.Popen:
    """A run whose command ends, with success, when it gets SIGUSR1."""
    return holding(tool, "signal.sigwait([signal.SIGUSR1])", waits_for=signal.SIGUSR1)


def test_a_command_holds_the_lock_and_knows_it(tool):
    run = tool.run("run", "--scene", "a-b", "--", "sh", "-c",
                   "echo $ARBITER_SCENE $ARBITER_TRANSITION $ARBITER_FENCE; exit 3")
    name, id, fence = run.stdout.split()
    assert (run.returncode, name, fence) == (3, "a-b", "1")
    # It failed, so nothing was done.
    assert tool.daemon.ask("GET", f"/transitions/{id}")[1]["outcome"] == "cancelled"
    run = tool.run("run", "--", "sh", "-c", "echo $ARBITER_TRANSITION")
    assert tool.daemon.ask("GET", f"/transitions/{run.stdout.strip()}")[1]["outcome"] == "completed"


@pytest.mark.parametrize("wait", [[], ["--wait", "0"], ["--quiet"]], ids=" ".join)
def test_a_command_is_not_run_without_the_lock(tool, wait):
    tree = {"root": {"id": "nav", "kind": "navigation", "children": ["list"]}}
    assert tool.daemon.ask("PUT", "/scenes/main/storyboard", tree)[0] == 200
    run = tool.run("run", "--operation", json.dumps({"type": "pop", "navigation": "nav"}), *wait, "--", "echo", "no")
    assert (run.returncode, run.stdout) == (0, "")
    assert run.stderr == (
        "arbiterctl: the operation changes nothing in main: there is no lock, and the command is not run\n")


@pytest.mark.parametrize("arguments, code, reason", [
    (["run"], 64, "give a command behind --"),
    (["run", "--wait", "-1", "--", "true"], 64, "--wait must be 0 to 86400 seconds"),
    (["run", "--operation", "7", "--", "true"], 64, "--operation must be a JSON object"),
    (["run", "--lease", "0", "--", "true"], 64, "--lease must be more than 0 and at most 300 seconds"),
    (["run", "--max-hold", "-1", "--", "true"], 64, "--max-hold must be more than 0"),
    (["run", "--busy-code", "256", "--", "true"], 64, "--busy-code must be 0 to 255"),
    (["run", "--", "no-such-command"], 127, "No such file or directory"),
    (["run", "--", "/etc/passwd"], 126, "Permission denied"),
    (["run", "--operation", '{"type":"dismiss","controller":"nobody"}', "--", "true"], 125, "There is no controller <nobody>"),
    (["run", "--token-file", "/nowhere", "--", "true"], 64, "arbiterctl: /nowhere: No such file or directory\n"),
    (["run", "--token-file", "/dev/null", "--", "true"], 64, "there is no token in it"),
    (["run", "--scope", "nav,", "--", "true"], 64, "--scope has an empty id"),
    (["run", "--url", "ftp://127.0.0.1", "--", "true"], 64, "must begin with http://"),
    (["run", "--url", "http://127.0.0.1:1", "--patience", "0", "--", "true"], 125, "cannot be reached"),
    (["run", "--url", "http://127.0.0.1:99999", "--", "true"], 64, "is not the URL of a daemon"),
    (["run", "--url", "unix:socket", "--", "true"], 64, "absolute path"),
    (["run", "--", "sh", "-c", "kill -USR1 $$"], 128 + signal.SIGUSR1, ""),
])
def test_exit_codes(tool, arguments, code, reason):
    run = tool.run(*arguments)
    assert run.returncode == code, run.stderr
    assert reason in run.stderr
    # What failed holds nothing.
    assert scene(tool).get("running", []) == []


def test_a_turn_that_does_not_come(tool):
    holder = until_told(tool)
    for wait, option in [("0", "--busy-code"), ("0.2", "--timeout-code")]:
        for codes, code in [([], 124), ([option, "7"], 7)]:
            run = tool.run("run", "--wait", wait, *codes, "--", "echo", "no")
            assert (run.returncode, run.stdout) == (code, "")
    events = tool.daemon.follow("/scenes/main/events")
    waiting = tool.begin("run", "--", "echo", "no")
    events.next("transition.queued")
    waiting.terminate()
    assert waiting.wait(PATIENCE) == 128 + signal.SIGTERM
    assert scene(tool)["queuedCount"] == 0
    holder.send_signal(signal.SIGUSR1)
    assert holder.wait(PATIENCE) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR2])
def test_signals_are_passed_on(tool, number):
    run = holding(tool, f"print(signal.sigwait([{int(number)}]) == {int(number)}); exit(7)", waits_for=number)
    run.send_signal(number)
    assert run.communicate(timeout=PATIENCE)[0] == "True\n"
    assert run.returncode == 7


def revoke(tool) -> None:
    held = scene(tool)["running"][0]["id"]
    assert tool.daemon.ask("POST", "/transitions/revoke", {"id": held, "reason": "a test"})[0] == 200


@pytest.mark.parametrize("codes, code", [([], 123), (["--lost-code", "7"], 7)], ids=["123", "7"])
def test_a_command_that_loses_the_lock_is_ended(tool, codes, code):
    run = holding(tool, "import signal; signal.pause()", options=codes)
    revoke(tool)
    out, err = run.communicate(timeout=PATIENCE)
    assert run.returncode == code
    assert "the lock is lost: a test" in err


# A command that starts another one, which says its process id, and waits for it.
def starting(*lines: str) -> list[str]:
    return ["import subprocess, sys", f"subprocess.run([sys.executable, '-c', {chr(10).join(lines)!r}])"]


SAYING = "import os, signal; print(os.getpid(), flush=True)"


def test_what_a_command_has_started_ends_with_the_lock(tool):
    run = holding(tool, *starting(SAYING, "signal.pause()"))
    started = os.pidfd_open(int(run.stdout.readline()))
    revoke(tool)
    assert run.wait(PATIENCE) == 123
    # When the run is over, it is gone.
    assert is_over(started)
    os.close(started)


def test_what_does_not_hear_that_the_lock_is_lost_is_killed(tool):
    # The lease is over in some seconds.
    run = holding(
        tool, *starting("import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)", SAYING, "while True: signal.pause()"),
        options=["--lease", "6"])
    started = os.pidfd_open(int(run.stdout.readline()))
    revoke(tool)
    assert run.wait(PATIENCE) == 123
    assert is_over(started)
    os.close(started)


@pytest.mark.parametrize("first, options", [("import os; os.setsid()", []), ("", ["--only-child"])], ids=["daemon", "only"])
def test_what_is_not_told_of_a_loss(tool, first, options):
    run = holding(tool, *starting(first, SAYING, "signal.pause()"), options=options)
    number = int(run.stdout.readline())
    started = os.pidfd_open(number)
    revoke(tool)
    assert run.wait(PATIENCE) == 123
    assert not is_over(started)
    os.kill(number, signal.SIGTERM)
    os.close(started)


def test_what_a_command_has_started_gets_its_signals(tool):
    run = holding(tool, *starting(
        "import signal; signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])", SAYING, "signal.sigwait([signal.SIGUSR2])"),
        waits_for=signal.SIGUSR2)
    started = os.pidfd_open(int(run.stdout.readline()))
    run.send_signal(signal.SIGUSR2)
    assert has_ended(started)
    assert run.wait(PATIENCE) == 0
    os.close(started)


def test_a_command_has_ended_before_its_lease_if_the_daemon_is_away(tool):
    # It is ended two seconds before.
    run = holding(tool, *starting(SAYING, "signal.pause()"), options=["--lease", "20"])
    errors = Lines(run.stderr)
    started = os.pidfd_open(int(run.stdout.readline()))
    held = scene(tool)["running"][0]["id"]
    tool.daemon.kill()
    assert "the lock will be lost" in errors.next("the lock")
    assert has_ended(started)
    tool.daemon.restart()
    # Now it can tell that it has given up; until then, the daemon has kept the lock.
    assert run.wait(PATIENCE) == 123
    assert tool.daemon.ask("GET", f"/transitions/{held}")[1]["outcome"] == "cancelled"
    os.close(started)


def test_a_command_may_hold_the_lock_for_so_long(tool):
    run = tool.begin("run", "--max-hold", "1", "--", sys.executable, "-c", "import signal; signal.pause()")
    out, err = run.communicate(timeout=PATIENCE)
    assert run.returncode == 123
    assert re.search("the lock (is|will be) lost: hold", err)


def test_a_terminal_is_told_that_no_daemon_answers():
    ours, theirs = os.openpty()
    run = subprocess.Popen(
        [Tool.path, "run", "--url", "http://127.0.0.1:1", "--patience", "8", "--", "true"], stdin=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    Lines(os.fdopen(ours)).next("no answer from http://127.0.0.1:1 yet; asking for 8 ")
    assert run.wait(PATIENCE) == 125


UNTIL_TERMINATED = f"signal.sigtimedwait([signal.SIGTERM], {PATIENCE})"


@contextlib.contextmanager
def on_terminal(tool, *command: str, redirected: bool = False, wait: str = UNTIL_TERMINATED) -> Iterator[tuple[subprocess.Popen, Lines, int]]:
    """A run on a terminal of its own, whose command has said that it has begun; what it says; and the terminal's other end."""
    ours, theirs = os.openpty()

    def own_terminal() -> None:
        os.setsid()
        fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)

    lines = [*command, "print('begun', flush=True)", wait]
    run = subprocess.Popen(
        [tool.path, "run", "--", sys.executable, "-c", "; ".join(lines)],
        env=tool.environment, stdin=subprocess.DEVNULL if redirected else theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, preexec_fn=own_terminal)
    os.close(theirs)
    output = Lines(run.stdout)
    output.next("begun")
    yield run, output, ours


COUNTING = ["import os, signal", "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT, signal.SIGTERM])"]
# Python calls no handler while it waits for a signal, so it waits for both.
COUNTED = (f"[print('INT', flush=True) for number in iter(lambda: signal.sigtimedwait([signal.SIGINT, signal.SIGTERM], "
           f"{PATIENCE}).si_signo, signal.SIGTERM)]")


@pytest.mark.parametrize("redirected, first", [(False, []), (True, []), (False, ["import os; os.setpgid(0, 0)"])],
                         ids=["terminal", "redirected", "own group"])
def test_ctrl_c_is_one_signal(tool, redirected, first):
    with on_terminal(tool, *first, *COUNTING, redirected=redirected, wait=COUNTED) as (run, lines, terminal):
        os.write(terminal, b"\x03")
        lines.next("INT")
        # Signals are passed on in order: another SIGINT would be there before this.
        run.terminate()
        assert run.wait(PATIENCE) == 0
        assert lines.all().count("INT") == 1
        os.close(terminal)


def test_a_terminal_that_is_closed_ends_the_command(tool):
    with on_terminal(tool, "import signal") as (run, lines, terminal):
        os.close(terminal)
        assert run.wait(PATIENCE) == 128 + signal.SIGHUP


def test_a_signal_that_is_ignored_at_the_start_stays_ignored(tool):
    run = holding(
        tool, "import signal; print(signal.getsignal(signal.SIGHUP) == signal.SIG_IGN, flush=True)",
        "signal.sigwait([signal.SIGUSR1])", waits_for=signal.SIGUSR1, before=["nohup"])
    assert run.stdout.readline() == "True\n"
    run.send_signal(signal.SIGHUP)
    run.send_signal(signal.SIGUSR1)
    assert run.wait(PATIENCE) == 0


def test_a_run_that_is_killed_lets_go_of_the_lock_and_ends_its_command(tool):
    run = holding(tool, "import os, signal; print(os.getpid(), flush=True); signal.pause()")
    command = os.pidfd_open(int(run.stdout.readline()))
    run.kill()
    assert tool.run("run", "--wait", "45", "--", "true").returncode == 0
    assert has_ended(command)
    os.close(command)


def has_ended(process: int, within: float = PATIENCE) -> bool:
    """Whether the process of a file descriptor ends before long."""
    end = select.poll()
    end.register(process, select.POLLIN)
    return bool(end.poll(within * 1000))


def is_over(process: int) -> bool:
    return has_ended(process, within=0)


def test_a_command_inherits_no_connection(tool):
    run = holding(tool, "import os", "for name in os.listdir('/proc/self/fd'):",
                  "    if os.path.exists(f'/proc/self/fd/{name}') or os.path.islink(f'/proc/self/fd/{name}'):",
                  "        print(os.readlink(f'/proc/self/fd/{name}'))")
    open_files = run.communicate(timeout=PATIENCE)[0].split()
    connections = Path(f"/proc/{os.getpid()}/net/tcp").read_text()
    inodes = {line.split()[9] for line in connections.splitlines()[1:]}
    assert not [name for name in open_files if name.startswith("socket:[") and name[8:-1] in inodes]


def test_a_token_may_end_with_a_line_break(daemon, tmp_path):
    access = tmp_path / "access.yaml"
    made = subprocess.run(
        [os.environ["ARBITERD"], "access", "new", "runner", "--role", "transition", "--scene", "ci-*", "--access", access],
        capture_output=True, text=True, check=True)
    limited = Tool(daemon("--access", str(access)))
    for token, code in [(made.stdout, 0), (made.stdout.strip() + "\nX-A: b", 125)]:
        run = limited.run("run", "--scene", "ci-9", "--", "true", ARBITER_TOKEN=token)
        assert run.returncode == code, run.stderr
        assert made.stdout.strip() not in run.stderr


def test_a_lock_is_held_while_the_daemon_restarts(tool):
    run = until_told(tool)
    held = scene(tool)["running"][0]["id"]
    tool.daemon.kill()
    tool.daemon.restart()
    run.send_signal(signal.SIGUSR1)
    assert run.wait(PATIENCE) == 0
    assert tool.daemon.ask("GET", f"/transitions/{held}")[1]["outcome"] == "completed"


def test_two_hundred_runs_are_alone_and_in_the_order_asked_for(tool, tmp_path):
    holder = until_told(tool)
    events = tool.daemon.follow("/scenes/main/events")
    log = tmp_path / "log"
    runs = []
    for number in range(200):
        # A directory can be made once: two commands at a time would fail.
        command = f"mkdir {tmp_path}/alone && echo {number} >> {log} && rmdir {tmp_path}/alone"
        runs.append(tool.begin("run", "--", "sh", "-c", command))
        events.next("transition.queued")
    holder.send_signal(signal.SIGUSR1)
    for run in runs:
        out, err = run.communicate(timeout=PATIENCE)
        assert run.returncode == 0, err
    assert log.read_text().split() == [str(number) for number in range(200)]


def test_events_are_one_line_each(tool):
    tool.run("run", "--", "true")
    watch = tool.begin("watch", "--scene", "main", "--since", "0")
    lines = Lines(watch.stdout)
    assert "  main  transition.running  id=t-" in lines.next("")
    assert lines.next("transition.ended").endswith("outcome=completed\n")
    watch.kill()


def test_a_line_may_have_the_id_that_since_takes(tool):
    tool.run("run", "--", "true")
    watch = tool.begin("watch", "--scene", "main", "--since", "0", "--ids")
    id = Lines(watch.stdout).next("transition.running").split()[0]
    watch.kill()
    watch = tool.begin("watch", "--scene", "main", "--since", id)
    assert "  transition.ended  " in Lines(watch.stdout).next("")
    watch.kill()
