"""A daemon, clients in processes of their own, and what is between them."""

import contextlib
import itertools
import json
import os
import queue
import re
import shlex
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

# How long a scenario waits for anything, in seconds.
PATIENCE = 90


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
                return response.status, json.loads(response.read() or "{}")
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def attach(self, session: str) -> contextlib.closing:
        """A stream that keeps a session alive until it is closed."""
        request = urllib.request.Request(self.url + "/events", headers={"Arbiter-Session": session})
        return contextlib.closing(urllib.request.urlopen(request, timeout=PATIENCE))


class Proxy:
    """Passes connections on to a daemon, which may be restarted, until it is told to do otherwise."""

    def __init__(self, daemon: Daemon) -> None:
        self._daemon = daemon
        self._lock = threading.Condition()
        self._held: bytes | None = None
        self._passed = {"up": b"", "down": b""}
        self._left: dict[str, int | None] = {"up": None, "down": None}
        self._exchange: tuple[bytes, bytes] | None = None
        self._exchanges_once = True
        self._has_exchanged = False
        self._refusals: list[tuple[bytes, bytes]] = []
        self._sockets: set[socket.socket] = set()
        self._daemons: set[socket.socket] = set()
        self._muted: set[socket.socket] = set()
        self._is_frozen = False
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def cut_after(self, count: int, direction: str) -> None:
        """Cuts all connections when so many more bytes have passed in this direction."""
        with self._lock:
            self._left[direction] = count

    def has_cut(self, direction: str) -> bool:
        with self._lock:
            return self._left[direction] is None

    def exchange(self, old: bytes, new: bytes, once: bool = True) -> None:
        """Replaces these bytes of the daemon, once or each time, by others: as many, unless they are of a head."""
        with self._lock:
            self._exchange, self._exchanges_once, self._has_exchanged = (old, new), once, False

    def refuse(self, some: bytes, code: str, times: int = 1, headers: str = "") -> None:
        """Answers so many requests with these bytes itself, with a problem of status 503, as a daemon that does nothing."""
        body = json.dumps({"status": 503, "code": code, "detail": "a test"})
        head = f"HTTP/1.1 503 Refused\r\nContent-Type: application/problem+json\r\nContent-Length: {len(body)}\r\n{headers}\r\n"
        with self._lock:
            self._refusals += [(some, (head + body).encode())] * times

    def replace(self, some: bytes, status: str, body: str) -> None:
        """Answers one request with these bytes itself, with a status line and a body that is no JSON."""
        head = f"{status}\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n"
        with self._lock:
            self._refusals.append((some, (head + body).encode()))

    def until_replaced(self) -> None:
        """Returns when no request is to be answered here any more."""
        with self._lock:
            assert self._lock.wait_for(lambda: not self._refusals, PATIENCE)

    def keys(self, some: bytes) -> list[bytes]:
        """The idempotency keys of the requests that begin with these bytes."""
        with self._lock:
            requests = self._passed["up"].split(some)[1:]
        found = [re.search(rb"(?i)\r\nidempotency-key: *(\S+)", request.split(b"\r\n\r\n")[0]) for request in requests]
        return [key[1] for key in found if key]

    def session(self) -> str:
        """The token of the session in which a request has been sent."""
        with self._lock:
            return re.search(rb"(?i)\r\narbiter-session: *(\S+)", self._passed["up"])[1].decode()

    def has_exchanged(self) -> bool:
        with self._lock:
            return self._has_exchanged

    def until_passed(self, some: bytes, direction: str) -> None:
        """Returns when these bytes have passed."""
        with self._lock:
            assert self._lock.wait_for(lambda: some in self._passed[direction], PATIENCE)

    def asked(self, some: bytes) -> int:
        """How often these bytes have been sent to the daemon."""
        with self._lock:
            return self._passed["up"].count(some)

    def until_asked(self, some: bytes, count: int) -> None:
        """Returns when these bytes have been sent to the daemon so often."""
        with self._lock:
            assert self._lock.wait_for(lambda: self._passed["up"].count(some) >= count, PATIENCE)

    def freeze(self) -> None:
        """Keeps all connections, and takes new ones, but passes on nothing more that the daemon says."""
        with self._lock:
            self._is_frozen = True
            self._muted |= self._daemons

    def thaw(self) -> None:
        """Passes on what the daemon says, on new connections."""
        with self._lock:
            self._is_frozen = False

    def hold(self, some: bytes = b"") -> None:
        """Cuts all connections, and from now on each one with a request that has these bytes."""
        with self._lock:
            self._held = some
        self._cut()

    def pass_on(self) -> None:
        """Passes all requests on again."""
        with self._lock:
            self._held = None

    def close(self) -> None:
        self._shut(self._listening)
        self._listening.close()
        self._cut()

    def _accept(self) -> None:
        while True:
            try:
                client = self._listening.accept()[0]
            except OSError:
                return
            try:
                daemon = socket.create_connection(("127.0.0.1", self._daemon.port))
            except OSError:
                client.close()
                continue
            with self._lock:
                self._sockets |= {client, daemon}
                self._daemons.add(daemon)
                if self._is_frozen:
                    self._muted.add(daemon)
            threading.Thread(target=self._pass, args=[client, daemon, "up"], daemon=True).start()
            threading.Thread(target=self._pass, args=[daemon, client, "down"], daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket, direction: str) -> None:
        try:
            while data := source.recv(65536):
                if direction == "up" and (refusal := self._refusal_of(data)):
                    self._take_whole(data, source)
                    source.sendall(refusal)
                    continue
                with self._lock:
                    if direction == "up" and self._held is not None and self._held in data:
                        break
                    if source in self._muted:
                        continue
                    if direction == "down" and self._exchange and self._exchange[0] in data:
                        data, self._has_exchanged = data.replace(*self._exchange, 1), True
                        if self._exchanges_once:
                            self._exchange = None
                    left = self._left[direction]
                    passed = data if left is None else data[:left]
                    if left is not None:
                        self._left[direction] = left - len(passed) if len(passed) == len(data) else None
                    if direction == "up":
                        # Nobody hears the answer to a request that is not noted yet.
                        sink.sendall(passed)
                        self._note(passed, direction)
                if direction == "down":
                    # A client that does not read holds up nothing else.
                    sink.sendall(passed)
                    with self._lock:
                        self._note(passed, direction)
                if len(passed) < len(data):
                    self._cut()
                    return
        except OSError:
            pass
        self._shut(source, sink)

    def _note(self, passed: bytes, direction: str) -> None:
        self._passed[direction] += passed
        self._lock.notify_all()

    def _refusal_of(self, data: bytes) -> bytes | None:
        with self._lock:
            if self._refusals and self._refusals[0][0] in data:
                self._lock.notify_all()
                return self._refusals.pop(0)[1]
            return None

    def _take_whole(self, data: bytes, source: socket.socket) -> None:
        """Reads the rest of a request."""
        while True:
            head, _, body = data.partition(b"\r\n\r\n")
            length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
            if b"\r\n\r\n" in data and len(body) >= int(length[1] if length else 0):
                break
            data += source.recv(65536)
        with self._lock:
            self._note(data, "up")

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
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self._numbers = itertools.count(1)
        self._answers: dict[int, queue.Queue] = {}
        self._said: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._hear, daemon=True).start()

    def _read(self) -> None:
        for line in self.process.stdout:
            answer = json.loads(line)
            self._answers[answer.pop("n")].put(answer)

    def _hear(self) -> None:
        for line in self.process.stderr:
            sys.stderr.write(line)
            self._said.put(line)

    def until_said(self, text: str) -> None:
        """Returns when a line of its standard error has this."""
        while text not in self._said.get(timeout=PATIENCE):
            pass

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


def until_queued(daemon: Daemon, count: int, scene: str = "main") -> None:
    """Returns when so many transitions wait in a scene, which is there already."""
    waiting: set[str] = set()
    for name, data in events(daemon, scene):
        if name == "transition.queued":
            waiting.add(data["id"])
        elif name.startswith("transition."):
            waiting.discard(data.get("id"))
        if len(waiting) == count:
            return


def until_decided(daemon: Daemon, scene: str = "main") -> None:
    """Returns when the finger of a gesture in a scene has left."""
    next(name for name, _ in events(daemon, scene) if name == "transition.released")


def until_idle(daemon: Daemon, scene: str = "main") -> None:
    """Returns when no transition of a scene is unfinished."""
    assert daemon.ask("GET", f"/scenes/{scene}/await?until=idle&wait={PATIENCE}")[1]["idle"] is True


def events(daemon: Daemon, scene: str) -> Iterator[tuple[str, dict]]:
    """The events of a scene from its beginning: their names and documents. A failure if `PATIENCE` seconds are over."""
    deadline = time.monotonic() + PATIENCE
    with urllib.request.urlopen(f"{daemon.url}/scenes/{scene}/events?since=0", timeout=PATIENCE) as stream:
        name = ""
        # A comment comes every 15 seconds, so it does not wait for ever.
        for line in map(bytes.decode, stream):
            assert time.monotonic() < deadline, "it has not happened"
            field, _, value = line.strip().partition(": ")
            if field == "event":
                name = value
            elif field == "data":
                yield name, json.loads(value)
