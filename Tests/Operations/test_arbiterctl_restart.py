"""arbiterctl while the daemon is started again, without its journal."""

import pytest
from conftest import Tool
from test_arbiterctl import holding
from test_arbiterctl_commands import TREE, said, started
from waiting import PATIENCE, Lines, polled


@pytest.fixture
def forgetful(daemon):
    """A tool whose daemon has forgotten everything when it is started again."""
    return Tool(daemon("--journal", "memory"))


def test_the_tree_is_written_after_a_restart_without_a_journal(forgetful):
    assert forgetful.daemon.ask("PUT", "/scenes/main/storyboard", TREE)[0] == 200
    watching = forgetful.begin("tree", "--watch")
    lines = Lines(watching.stdout)
    lines.next("settings")
    forgetful.daemon.kill()
    forgetful.daemon.restart()
    lines.next("No scene main is known")
    assert forgetful.daemon.ask("PUT", "/scenes/main/storyboard", TREE)[0] == 200
    lines.next("settings")
    watching.terminate()
    watching.wait(PATIENCE)


def test_what_the_daemon_has_forgotten_is_lost(forgetful):
    id, _ = started(forgetful)
    # Both wait with what the daemon has shown them.
    events = forgetful.daemon.follow("/scenes/main/events?since=0")
    waiting = [forgetful.begin("serialize"), forgetful.begin("await", id)]
    ticket = events.next("transition.queued")["id"]
    # With the stream of events.
    assert polled(lambda: parked(forgetful) == 3)
    forgetful.daemon.kill()
    forgetful.daemon.restart()
    for each, lost in zip(waiting, (ticket, id)):
        _, err = each.communicate(timeout=PATIENCE)
        assert (each.returncode, f"the daemon no longer knows {lost}" in err) == (123, True), err
    # An id that nobody has shown may be wrong.
    assert "unknown-transition" in said(forgetful, "await", id, code=125)


def test_a_run_is_told_that_its_lock_is_forgotten(forgetful):
    run = holding(forgetful, "import signal; signal.pause()")
    forgetful.daemon.kill()
    forgetful.daemon.restart()
    _, err = run.communicate(timeout=PATIENCE)
    assert (run.returncode, err) == (
        123, "arbiterctl: the lock is lost: the daemon no longer knows the transition (forgotten)\n")


def parked(tool: Tool) -> int:
    """How many requests wait for an answer, and event streams."""
    metrics = tool.daemon.ask("GET", "/metrics")[1]
    return next(int(line.split()[-1]) for line in metrics.splitlines() if line.startswith("arbiter_parked_connections "))
