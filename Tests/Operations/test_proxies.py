"""Proxies of other makers between the clients and the daemon, with the files of deploy/proxies that docs/proxies.md describes."""

import http.client
import json
import re
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urljoin

import pytest
from conftest import Daemon, ask
from waiting import PATIENCE, Events, polled

FILES = Path(__file__).parents[2] / "deploy/proxies"
# What is in a file of nginx for a site belongs into this; it runs as one process, and writes only where it is told.
NGINX = """daemon off; master_process off; pid {d}/pid; error_log stderr; events {{}}
http {{ access_log off; client_body_temp_path {d}/body; proxy_temp_path {d}/proxy; fastcgi_temp_path {d}/fastcgi;
        uwsgi_temp_path {d}/uwsgi; scgi_temp_path {d}/scgi; include {d}/site.conf; }}
"""


class Proxy:
    """A proxy that runs, and where it listens."""

    def __init__(self, command: list[str], port: int) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
        self.port = port

    def listens(self) -> bool:
        assert self.process.poll() is None, "the proxy has ended"
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)

    def ask(self, method: str, path: str, body: object = None) -> tuple[int, object]:
        return ask(self.connect(), method, path, body)

    def follow(self, path: str) -> Events:
        connection = self.connect()
        connection.request("GET", path)
        return Events(connection.getresponse())

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(PATIENCE)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


Start = Callable[..., Proxy]


@pytest.fixture
def start_proxy(tmp_path: Path) -> Iterator[Start]:
    """Starts a proxy of a kind in front of a daemon; `change` is what becomes of its file."""
    proxies: list[Proxy] = []

    def start(kind: str, daemon: Daemon, change: Callable[[str], str] = lambda text: text) -> Proxy:
        port = free_port()
        text = change((FILES / {"nginx": "nginx.conf", "haproxy": "haproxy.cfg"}[kind]).read_text())
        for old, new in [("8081", str(port)), ("127.0.0.1:8080", f"127.0.0.1:{daemon.port}")]:
            assert old in text
            text = text.replace(old, new)
        file = tmp_path / "site.conf"
        file.write_text(text)
        if kind == "nginx":
            file = tmp_path / "nginx.conf"
            file.write_text(NGINX.format(d=tmp_path))
            command = ["nginx", "-p", str(tmp_path), "-c", str(file)]
        else:
            command = ["haproxy", "-f", str(file)]
        proxies.append(Proxy(command, port))
        assert polled(proxies[-1].listens), "the proxy does not start"
        return proxies[-1]

    yield start
    for each in proxies:
        each.stop()


@pytest.fixture(params=["nginx", "haproxy"])
def behind(request, daemon, start_proxy: Start) -> tuple[Daemon, Proxy]:
    """A daemon, and a proxy of each kind before it."""
    running = daemon("--journal", "memory")
    return running, start_proxy(request.param, running)


def with_defaults(_: str) -> str:
    return "server { listen 8081; location / { proxy_pass http://127.0.0.1:8080; } }\n"


def behind_a_path(text: str) -> str:
    for old, new in [("location / {", "location /arbiter/ {"), ("proxy_pass http://arbiterd;", "proxy_pass http://arbiterd/;")]:
        assert old in text
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize("kind, change", [("nginx", None), ("nginx", with_defaults), ("haproxy", None)])
def test_events_come_as_they_happen(daemon, start_proxy: Start, kind, change):
    running = daemon("--journal", "memory")
    proxy = start_proxy(kind, running, *([change] if change else []))
    events = proxy.follow("/scenes/main/events")
    begun = proxy.ask("POST", "/transitions/start", {"scene": "main"})[1]
    assert events.next("transition.running")["id"] == begun["id"]


def test_who_leaves_while_it_waits_loses_its_place(behind):
    running, proxy = behind
    events = running.follow("/scenes/main/events")
    assert proxy.ask("POST", "/transitions/start", {"scene": "main", "leaseSeconds": 300})[0] == 201
    waiting = proxy.connect()
    waiting.request("POST", "/transitions/serialize", '{"scene":"main","wait":120}', {"Content-Type": "application/json"})
    events.next("transition.queued")
    waiting.close()
    assert events.next("transition.ended")["reason"] == "abandoned"


def test_the_session_of_who_dies_while_it_holds_ends(behind):
    running, proxy = behind
    events = running.follow("/scenes/main/events")
    session = {"Arbiter-Session": proxy.ask("POST", "/sessions", {})[1]["token"], "Content-Type": "application/json"}
    connection = proxy.connect()
    held = ask(connection, "POST", "/transitions/start", {"scene": "main", "leaseSeconds": 300}, session)[1]
    body = {"id": held["id"], "token": held["token"], "until": "ended", "wait": 120}
    connection.request("POST", "/transitions/await", json.dumps(body), session)
    # It is parked when the daemon counts it beside the stream of events.
    assert polled(lambda: "\narbiter_parked_connections 2\n" in str(running.ask("GET", "/metrics")[1]))
    connection.close()
    assert events.next("transition.ended")["reason"] == "session-lost"


def test_large_storyboards_pass(behind):
    _, proxy = behind
    # More than a megabyte, which is what nginx lets through by default.
    root = {"id": "nav", "kind": "navigation", "children": [f"{number:0120}" for number in range(9_999)]}
    assert proxy.ask("PUT", "/scenes/main/storyboard?dryRun=true", {"root": root})[0] == 200


def test_the_page_may_be_behind_a_path(daemon, start_proxy: Start):
    running = daemon("--journal", "memory")
    proxy = start_proxy("nginx", running, behind_a_path)
    seen: set[str] = set()

    def visit(path: str) -> None:
        """Asks for a file, and for everything that it refers to."""
        if path in seen:
            return
        seen.add(path)
        status, text = proxy.ask("GET", path)
        assert status == 200, path
        for reference in re.findall(r"""(?:href|src)="([^"#:]+)"|(?:from|import\() ?'([^']+\.js)'""", str(text)):
            visit(urljoin(path, reference[0] or reference[1]))

    visit("/arbiter/")
    assert {"/arbiter/page.css", "/arbiter/page.js", "/arbiter/page/live.js", "/arbiter/client.js"} <= seen
