"""arbiterctl with a daemon that refuses for a while, is slow, and is cut off."""

import contextlib
import http.client
import http.server
import json
import socket
import threading
from collections.abc import Iterator

import pytest
from conftest import Daemon, Tool
from waiting import PATIENCE


class Gate(http.server.ThreadingHTTPServer):
    """Passes requests on to a daemon, after it has refused the first ones of each path."""

    daemon_threads = True

    def __init__(self, daemon: Daemon, refusals: list[tuple[int, str]], delay: float = 0) -> None:
        super().__init__(("127.0.0.1", 0), Passage)
        self.daemon, self.delay = daemon, delay
        self._refusals = refusals
        self._counts: dict[str, int] = {}
        self._lock = threading.Lock()

    def refusal(self, path: str) -> tuple[int, str] | None:
        with self._lock:
            count = self._counts.get(path, 0)
            self._counts[path] = count + 1
        return self._refusals[count] if count < len(self._refusals) else None


class Passage(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Gate

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        # The client waits for longer answers than this; a limit on time would end the wait.
        threading.Event().wait(self.server.delay)
        if refusal := self.server.refusal(self.path):
            status, code = refusal
            return self._answer(status, json.dumps({"status": status, "code": code}).encode(), {"Retry-After": "0"})
        connection = http.client.HTTPConnection("127.0.0.1", self.server.daemon.port, timeout=PATIENCE)
        headers = {name: value for name, value in self.headers.items() if name.lower() != "host"}
        connection.request(self.command, self.path, body=body or None, headers=headers)
        with contextlib.closing(connection):
            response = connection.getresponse()
            self._answer(response.status, response.read(), {})

    do_GET = do_POST

    def _answer(self, status: int, body: bytes, headers: dict) -> None:
        # A client that was ended does not read its answer.
        with contextlib.suppress(OSError):
            self.send_response(status)
            for name, value in {**headers, "Content-Type": "application/json", "Content-Length": len(body)}.items():
                self.send_header(name, str(value))
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def gate(daemon: Daemon, refusals: list[tuple[int, str]], delay: float = 0) -> Iterator[Tool]:
    server = Gate(daemon, refusals, delay)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    tool = Tool(daemon)
    tool.environment["ARBITER_URL"] = f"http://127.0.0.1:{server.server_port}"
    try:
        yield tool
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def outcomes(daemon: Daemon) -> list[str]:
    return [each.get("outcome", each["state"]) for each in daemon.ask("GET", "/transitions")[1]["transitions"]]


@pytest.mark.parametrize("refusals", [
    [(503, "draining"), (503, "recovering"), (503, "journal-unavailable")], [(429, "too-many-requests")] * 2])
def test_a_refusal_that_passes_is_waited_out(daemon, refusals):
    running = daemon()
    with gate(running, refusals) as tool:
        assert tool.run("run", "--", "true").returncode == 0
        assert tool.run("start", "--lease", "300").returncode == 0
    assert outcomes(running) == ["completed", "running"]


def test_a_refusal_that_does_not_pass_is_told(daemon):
    running = daemon()
    with gate(running, [(503, "draining")] * 1000) as tool:
        run = tool.run("run", "--patience", "0.3", "--", "true")
        assert (run.returncode, "draining" in run.stderr) == (125, True)
    assert outcomes(running) == []


def test_a_slow_daemon_is_waited_for(daemon):
    running = daemon()
    with gate(running, [], delay=0.3) as tool:
        assert tool.run("run", "--", "true").returncode == 0
        assert json.loads(tool.run("serialize", "--lease", "300", "--json").stdout)["state"] == "running"
    assert outcomes(running) == ["completed", "running"]


class Cut:
    """Passes bytes on to a daemon, and closes the first connection after so many bytes of its answers."""

    def __init__(self, daemon: Daemon, count: int) -> None:
        self._daemon, self._left = daemon, count
        self._lock = threading.Lock()
        self.has_cut = False
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client = self._listening.accept()[0]
                server = socket.create_connection(("127.0.0.1", self._daemon.port))
                for ends in ((client, server, False), (server, client, True)):
                    threading.Thread(target=self._pass, args=ends, daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket, counts: bool) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                target.sendall(self._taken(data) if counts else data)
                if counts and self.has_cut and self._left == 0:
                    self._left = None
                    break
        for each in (source, target):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def _taken(self, data: bytes) -> bytes:
        with self._lock:
            if self._left is None or self.has_cut or len(data) <= self._left:
                if self._left is not None and not self.has_cut:
                    self._left -= len(data)
                return data
            taken, self._left, self.has_cut = data[: self._left], 0, True
            return taken

    def close(self) -> None:
        self._listening.close()


def test_a_run_survives_a_cut_after_any_byte(daemon):
    running = daemon()
    count, cuts, losses = 0, 0, 0
    while True:
        cut = Cut(running, count)
        tool = Tool(running)
        tool.environment["ARBITER_URL"] = f"http://127.0.0.1:{cut.port}"
        run = tool.run("run", "--", "echo", "alone")
        cut.close()
        if "session-lost" in run.stderr and losses < 3:
            losses += 1
            continue  # It came back more than two seconds after the cut, as it may on a slow machine.
        assert (run.returncode, run.stdout) == (0, "alone\n"), (count, run.stderr)
        if not cut.has_cut:
            break
        cuts += 1
        count += 67
    assert cuts > 10
    assert running.ask("GET", "/scenes/main")[1]["runningCount"] == 0
    assert set(outcomes(running)) <= {"completed", "expired"}
