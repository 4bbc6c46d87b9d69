"""What every client promises, played with a daemon and two or more of its agents. See README.md."""

import itertools
import json
import os
import queue
import re
import shlex
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

# How long a scenario waits for anything, in seconds.
PATIENCE = 30
NAV = {"root": {"id": "nav", "kind": "navigation", "children": ["list"]}}


class Daemon:
    """A daemon that can be killed and started again on the same port."""

    def __init__(self, directory: Path, *options: str) -> None:
        self._directory = directory
        self._options = options
        self.port = 0
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            [os.environ["ARBITERD"], "--listen", f"127.0.0.1:{self.port}", "--data", str(self._directory / "data"),
             "--log-level", "error", *self._options],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        ready = re.fullmatch(r"arbiterd .* ready on .*:(\d+)\n", line)
        assert ready, line
        self.port = int(ready[1])

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(self, method: str, path: str, body: object = None) -> tuple[int, dict]:
        request = urllib.request.Request(
            self.url + path, method=method, headers={"Content-Type": "application/json"},
            data=None if body is None else json.dumps(body).encode())
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)


class Proxy:
    """Passes connections on to a daemon, and cuts all of them when so many more bytes have passed in one direction."""

    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon
        self._lock = threading.Lock()
        self._left: dict[str, int | None] = {"up": None, "down": None}
        self._sockets: set[socket.socket] = set()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def cut_after(self, count: int, direction: str) -> None:
        with self._lock:
            self._left[direction] = count

    def has_cut(self, direction: str) -> bool:
        with self._lock:
            return self._left[direction] is None

    def close(self) -> None:
        self._listening.close()
        self._cut()

    def _accept(self) -> None:
        while True:
            try:
                client = self._listening.accept()[0]
                daemon = socket.create_connection(("127.0.0.1", self._daemon.port))
            except OSError:
                return
            with self._lock:
                self._sockets |= {client, daemon}
            threading.Thread(target=self._pass, args=[client, daemon, "up"], daemon=True).start()
            threading.Thread(target=self._pass, args=[daemon, client, "down"], daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket, direction: str) -> None:
        try:
            while data := source.recv(65536):
                with self._lock:
                    left = self._left[direction]
                    passed = data if left is None else data[:left]
                    if left is not None:
                        self._left[direction] = left - len(passed) if len(passed) == len(data) else None
                sink.sendall(passed)
                if len(passed) < len(data):
                    self._cut()
                    return
        except OSError:
            pass
        self._shut(source, sink)

    def _cut(self) -> None:
        with self._lock:
            sockets, self._sockets = self._sockets, set()
        self._shut(*sockets)

    @staticmethod
    def _shut(*sockets: socket.socket) -> None:
        """Not close, which would wait for the thread that reads from the socket."""
        for end in sockets:
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # The other end has closed it.


class Agent:
    """A client in a process of its own."""

    def __init__(self, url: str, name: str, **options: object) -> None:
        self.process = subprocess.Popen(
            [*shlex.split(os.environ["AGENT"]), url, name, json.dumps(options)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._numbers = itertools.count(1)
        self._answers: dict[int, queue.Queue] = {}
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self.process.stdout:
            answer = json.loads(line)
            self._answers[answer.pop("n")].put(answer)

    def tell(self, do: str, **fields: object) -> Callable[[], dict]:
        """Sends a command; what is returned waits for the answer."""
        number = next(self._numbers)
        answer = self._answers[number] = queue.Queue()
        self.process.stdin.write(json.dumps({"n": number, "do": do, **fields}) + "\n")
        self.process.stdin.flush()
        return lambda: answer.get(timeout=PATIENCE)

    def ask(self, do: str, **fields: object) -> dict:
        return self.tell(do, **fields)()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE)


@pytest.fixture
def daemon(tmp_path):
    daemons = []

    def make(*options: str) -> Daemon:
        daemons.append(Daemon(tmp_path / f"{len(daemons)}", *options))
        return daemons[-1]

    yield make
    for made in daemons:
        made.kill()


@pytest.fixture
def agent():
    agents = []

    def make(daemon: Daemon | Proxy, name: str, **options: object) -> Agent:
        agents.append(Agent(daemon.url, name, **options))
        return agents[-1]

    yield make
    for made in agents:
        made.kill()


def eventually(condition: Callable[[], object]) -> bool:
    """Whether a condition that nothing announces holds before long."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return False


def queued(daemon: Daemon, count: int) -> bool:
    return eventually(lambda: daemon.ask("GET", "/scenes/main")[1].get("queuedCount") == count)


def test_turn(daemon, agent):
    running = daemon()
    agents = [agent(running, f"view {number}") for number in range(4)]
    held = agents[0].ask("start", scene="main", **{"as": "t"})["transition"]
    assert held["state"] == "running"
    assert agents[1].ask("start", scene="main", **{"as": "t"}) == {"transition": None}
    waiting = []
    for number, other in enumerate(agents[1:], 1):
        waiting.append(other.tell("serialize", scene="main", **{"as": "t"}))
        assert queued(running, number)
    fences = [held["fence"]]
    for holder, (other, turn) in zip(agents, zip(agents[1:], waiting)):
        assert holder.ask("complete", **{"as": "t"})["transition"]["outcome"] == "completed"
        fences.append(turn()["transition"]["fence"])
        assert len(running.ask("GET", "/scenes/main")[1]["running"]) == 1
    assert fences == sorted(set(fences))
    assert agents[-1].ask("cancel", **{"as": "t"})["transition"]["outcome"] == "cancelled"


def test_a_turn_that_does_not_come_in_time_is_given_up(daemon, agent):
    running = daemon()
    first, second = agent(running, "first"), agent(running, "second")
    first.ask("start", scene="main", **{"as": "t"})
    assert second.ask("serialize", scene="main", timeout=0.3, **{"as": "t"}) == {"error": "timedOut"}
    assert running.ask("GET", "/scenes/main")[1]["queuedCount"] == 0


def test_a_held_transition_outlives_its_lease(daemon, agent):
    running = daemon()
    holder, other = agent(running, "holder"), agent(running, "other")
    held = holder.ask("start", scene="main", options={"leaseSeconds": 0.5}, **{"as": "t"})["transition"]
    # Somebody waits for longer than the lease, in vain.
    assert other.ask("serialize", scene="main", timeout=2, **{"as": "t"}) == {"error": "timedOut"}
    assert running.ask("GET", f"/transitions/{held['id']}")[1]["state"] == "running"
    assert holder.ask("complete", **{"as": "t"})["transition"]["outcome"] == "completed"


def test_a_turn_that_comes_later_than_a_lease_lasts(daemon, agent):
    running = daemon()
    holder, waiter, other = (agent(running, name) for name in ("holder", "waiter", "other"))
    holder.ask("start", scene="main", **{"as": "t"})
    waiting = waiter.tell("serialize", scene="main", options={"leaseSeconds": 0.5}, **{"as": "t"})
    # It waits for longer than its lease will last, and then holds for longer.
    assert other.ask("serialize", scene="main", timeout=1, **{"as": "t"}) == {"error": "timedOut"}
    holder.ask("complete", **{"as": "t"})
    assert waiting()["transition"]["state"] == "running"
    assert other.ask("serialize", scene="main", timeout=1, **{"as": "t"}) == {"error": "timedOut"}
    assert waiter.ask("complete", **{"as": "t"})["transition"]["outcome"] == "completed"


def test_loss_of_lease(daemon, agent):
    running = daemon()
    holder, other = agent(running, "holder"), agent(running, "other")
    holder.ask("start", scene="main", options={"leaseSeconds": 0.5}, **{"as": "t"})
    lost = holder.tell("lost", **{"as": "t"})
    holder.process.send_signal(signal.SIGSTOP)
    assert other.ask("serialize", scene="main", **{"as": "t"})["transition"]["state"] == "running"
    holder.process.send_signal(signal.SIGCONT)
    assert lost()["outcome"] == "expired"
    ended = holder.ask("complete", **{"as": "t"})
    assert (ended["error"], ended["outcome"]) == ("ended", "expired")


def test_restart_in_the_middle(daemon, agent):
    running = daemon()
    holder, other = agent(running, "holder"), agent(running, "other")
    holder.ask("start", scene="main", **{"as": "t"})
    waiting = other.tell("serialize", scene="main", **{"as": "t"})
    assert queued(running, 1)
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


def test_drag(daemon, agent):
    running = daemon()
    client = agent(running, "view")
    client.ask("declare", scene="main", storyboard=NAV)
    options = {
        "operation": {"type": "push", "navigation": "nav", "controller": "editor"}, "interactive": True,
        "animation": {"duration": 1}}
    client.ask("start", scene="main", options=options, **{"as": "t"})
    assert client.ask("progress", fraction=0.75, **{"as": "t"})["answer"]["applied"] is True
    decided = client.ask("release", **{"as": "t"})["answer"]
    assert (decided["decision"], decided["remaining"]) == ("finish", 0.25)
    assert client.ask("complete", **{"as": "t"})["transition"]["inserted"] == ["editor"]


def test_participant(daemon, agent):
    running = daemon()
    owner, part = agent(running, "owner"), agent(running, "part")
    # Of a scene that begins while a stream begins, the stream may tell all in a reset.
    owner.ask("declare", scene="main", storyboard=NAV)
    part.ask("follow", scene="main", attached=True, **{"as": "events"})
    assert eventually(lambda: sessions(running) == 1)
    starting = owner.tell(
        "start", scene="main", options={"participants": [{"client": "part"}], "readySeconds": 60}, **{"as": "t"})
    preparing = part.ask("next", name="transition.preparing", **{"as": "events"})["event"]
    assert part.ask("ready", id=preparing["data"]["id"])["transition"]["state"] == "running"
    assert starting()["transition"]["state"] == "running"


def sessions(running: Daemon) -> float:
    with urllib.request.urlopen(running.url + "/metrics", timeout=PATIENCE) as response:
        lines = response.read().decode().splitlines()
    return next(float(line.split()[-1]) for line in lines if line.startswith("arbiter_sessions "))


def test_coalesced(daemon, agent):
    running = daemon()
    holder, older, newer = (agent(running, name) for name in ("holder", "older", "newer"))
    holder.ask("start", scene="main", **{"as": "t"})
    options = {"coalesce": {"key": "selection", "keep": "latest"}}
    waiting = older.tell("serialize", scene="main", options=options, **{"as": "t"})
    assert queued(running, 1)
    newest = newer.tell("serialize", scene="main", options=options, **{"as": "t"})
    ended = waiting()
    assert (ended["error"], ended["outcome"]) == ("ended", "superseded")
    holder.ask("complete", **{"as": "t"})
    assert newest()["transition"]["state"] == "running"


def test_a_client_that_is_killed_lets_go(daemon, agent):
    running = daemon()
    holder, waiter, other = (agent(running, name) for name in ("holder", "waiter", "other"))
    held = holder.ask("start", scene="main", options={"leaseSeconds": 300}, **{"as": "t"})["transition"]
    waiter.tell("serialize", scene="main", **{"as": "t"})
    assert queued(running, 1)
    waiting = other.tell("serialize", scene="main", **{"as": "t"})
    assert queued(running, 2)
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
    assert lost()["outcome"] == "expired"
    assert client.ask("start", scene="main", **{"as": "u"})["transition"]["state"] == "running"


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
    assert queued(running, 1)
    assert third.ask("serialize", scene="main", **{"as": "t"}) == {"error": "refused", "code": "queue-full"}


def test_draining(daemon, agent):
    running = daemon()
    client, other = agent(running, "view"), agent(running, "other")
    other.ask("start", scene="main", **{"as": "t"})
    waiting = client.tell("serialize", scene="main", **{"as": "t"})
    assert queued(running, 1)
    running.process.terminate()
    assert running.process.wait(PATIENCE) == 0
    running.start()
    other.ask("complete", **{"as": "t"})
    assert waiting()["transition"]["state"] == "running"


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
def test_connections_that_are_cut_after_any_byte(daemon, agent, direction):
    running = daemon()
    proxy = Proxy(running)
    client = agent(proxy, "view")
    # More than the bytes of an exchange, a few bytes more each time.
    for count in range(0, 800, 13):
        proxy.cut_after(count, direction)
        scene = f"s{count}"
        assert client.ask("serialize", scene=scene, **{"as": "t"})["transition"]["state"] == "running"
        assert client.ask("complete", **{"as": "t"})["transition"]["outcome"] == "completed"
        assert [found["outcome"] for found in transitions(running, scene)] == ["completed"]
    assert proxy.has_cut(direction)
    proxy.close()


def transitions(running: Daemon, scene: str) -> list[dict]:
    return running.ask("GET", f"/transitions?scene={scene}")[1]["transitions"]


def test_a_stream_that_is_cut_after_any_byte(daemon, agent):
    running = daemon()
    proxy = Proxy(running)
    follower, other = agent(proxy, "follower"), agent(running, "other")
    other.ask("declare", scene="main", storyboard=NAV)
    follower.ask("follow", scene="main", **{"as": "events"})
    for count in range(0, 1500, 97):
        proxy.cut_after(count, "down")
        started = other.ask("start", scene="main", **{"as": "t"})["transition"]
        other.ask("complete", **{"as": "t"})
        ended = follower.ask("next", name="transition.ended", **{"as": "events"})["event"]["data"]
        assert ended["id"] == started["id"]
    proxy.close()
