"""The memory that a daemon takes for clients that do their worst, in the gigabyte that compose.yaml gives it."""

import contextlib
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Daemon
from crowds import Pipeline, run_transitions, unread
from memory import MemoryLimit, memory_limit, peak, resident
from waiting import polled

GIGABYTE = 1 << 30
MAX_MEMORY = 128
# How much worse than in every test run: `make nightly` says 3.
CROWD = int(os.environ.get("CROWD", "1"))

pytestmark = pytest.mark.usefixtures("as_many_files_as_allowed")


@pytest.fixture
def limit() -> Iterator[MemoryLimit]:
    with memory_limit(GIGABYTE) as limit:
        yield limit


def metric(running: Daemon, name: str) -> float:
    lines = running.ask("GET", "/metrics")[1].splitlines()
    return next(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(name + " "))


def names(running: Daemon) -> list[str]:
    """The files of its journal, without their numbers."""
    return sorted(path.name.split("-")[0] for path in (running.directory / "data").iterdir())


def open_but_removed(running: Daemon) -> list[str]:
    """The files that the daemon has open, and that take room although they have no name any more."""
    targets = []
    for link in Path(f"/proc/{running.process.pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            targets.append(os.readlink(link))
    return [target for target in targets if target.startswith(str(running.directory)) and target.endswith(" (deleted)")]


def test_a_client_that_does_its_worst_does_not_kill_a_daemon_with_a_gigabyte(limit, daemon, capsys):
    running = daemon("--max-memory", f"{MAX_MEMORY}MB", before=limit.enter)
    pipeline = Pipeline(running.port)
    scenes = [f"s{number}" for number in range(3000 * CROWD)]
    for number in range(3 * CROWD):
        children = [f"{child}-".ljust(120, "v") for child in range(9990)]
        tabs = {"root": {"id": "root", "kind": "tabs", "children": children}}
        assert pipeline.ask([("PUT", f"/scenes/b{number}/storyboard", tabs)])[0][0] < 300
    for start in range(0, len(scenes), 100):
        run_transitions(pipeline, 1, scenes[start:start + 100], "y")
    run_transitions(pipeline, 12_000 * CROWD, scenes[:100], "y" * 4000)
    silent: list[socket.socket] = []
    # They have missed so much that each is told of all scenes.
    silent += [unread(running.port, "/events?since=c1") for _ in range(1000 * CROWD)]
    long = ["/transitions?limit=1000", "/scenes/b1/storyboard", "/scenes/b2/trace", "/trace"]
    silent += [unread(running.port, path) for path in long * 50]
    assert polled(lambda: metric(running, "arbiter_event_streams") == 1000 * CROWD)
    assert metric(running, "arbiter_event_reset_bytes") < 33e6
    assert 0 < metric(running, "arbiter_answer_bytes") <= 128 << 20
    assert metric(running, 'arbiter_problems_total{code="too-many-connections"}') > 0
    run_transitions(pipeline, 12_000 * CROWD, scenes[:100], "z" * 4000)
    assert polled(lambda: metric(running, 'arbiter_journal_compactions_total{result="done"}') > 0)
    assert running.ask("GET", "/readyz")[0] == 200
    most = peak(running.process.pid)
    for client in silent:
        client.close()
    state = (metric(running, "arbiter_state_bytes") + metric(running, "arbiter_state_ended_bytes")) / 1e6
    # What is freed goes back to the system.
    given_back = polled(lambda: resident(running.process.pid) < 1.5 * state + 100)
    with capsys.disabled():
        print(f"\n--max-memory {MAX_MEMORY} MB in {limit}: {most:.0f} MB at the peak, "
              f"then {resident(running.process.pid):.0f} MB, of which {state:.0f} MB are counted")
    assert given_back
    assert metric(running, "arbiter_answer_bytes") == metric(running, "arbiter_event_reset_bytes") == 0
    # What a compaction has replaced takes no room on the disk.
    assert polled(lambda: names(running) == ["lock", "log", "snapshot"] and not open_but_removed(running))
    # To end by itself, it would first complete a compaction of all this, for long.
    running.kill()


def test_requests_that_wait_do_not_keep_their_bodies(daemon):
    running = daemon()
    pipeline = Pipeline(running.port)
    held = pipeline.ask([("POST", "/transitions/start", {"leaseSeconds": 300})])[0][1]
    fields = f'{{"id":"{held["id"]}","token":"{held["token"]}","until":"ended","wait":100'
    body = fields + " " * (60_000 - len(fields)) + "}"
    request = (f"POST /transitions/await HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
               f"Content-Length: {len(body)}\r\n\r\n{body}").encode()
    waiting = []
    for _ in range(2000):
        waiting.append(socket.create_connection(("127.0.0.1", running.port)))
        waiting[-1].sendall(request)
    assert polled(lambda: metric(running, "arbiter_parked_connections") == len(waiting))
    # A connection needs 17 KB.
    assert polled(lambda: resident(running.process.pid) < 50 + len(waiting) * 0.025)
    for client in waiting:
        client.close()
