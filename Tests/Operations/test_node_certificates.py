"""Nodes of a cluster that show each other certificates, which are replaced while they run."""

import array
import contextlib
import fcntl
import http.client
import http.server
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import termios
import threading
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import Authority, Daemon
from waiting import PATIENCE, polled

SHARDS = 2


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


@pytest.fixture
def etcd(tmp_path: Path) -> Iterator[str]:
    """A member of etcd; its address."""
    client, peer = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
    process = subprocess.Popen(
        ["etcd", "--data-dir", tmp_path / "etcd", "--logger", "zap", "--log-level", "error", "--unsafe-no-fsync",
         "--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls", peer,
         "--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}"])
    yield client
    process.kill()
    process.wait(PATIENCE)


class Shown:
    """The files that a node shows, which can be replaced."""

    def __init__(self, directory: Path, name: str) -> None:
        paths = [directory / f"{name}-shown.{kind}" for kind in ("crt", "key", "ca")]
        self.certificate, self.key, self.authority = paths

    def show(self, pair: tuple[Path, Path], authority: Authority) -> None:
        shutil.copy(pair[0], self.certificate)
        shutil.copy(pair[1], self.key)
        shutil.copy(authority.certificate, self.authority)

    def options(self, kind: str) -> list[str]:
        return [f"--{kind}-certificate", str(self.certificate), f"--{kind}-key", str(self.key),
                f"--{kind}-ca", str(self.authority)]


def node_certificate(authority: Authority, name: str) -> tuple[Path, Path]:
    """One for both sides, because a node serves others and asks them."""
    return authority.sign(name, "serverAuth,clientAuth")


def reload(node: Daemon, pattern: str) -> str:
    node.process.send_signal(signal.SIGHUP)
    return node.log.next(pattern)


READ_AGAIN = "the certificate for other nodes (has been read again|stays as it was)"


def scene(owners: dict[int, str], node: str, number: int) -> str:
    """The name of a scene that a node serves."""
    names = (f"{number}-{suffix}" for suffix in range(1000))
    return next(name for name in names
                if owners[(zlib.crc32(name.encode()) & 0x3fff) * SHARDS // 16384] == node)


def node_status(node: str, shard: int, context: ssl.SSLContext) -> int:
    """What the listener for nodes answers to one with these certificates that asks for a shard's part of a list."""
    connection = http.client.HTTPSConnection(node.removeprefix("https://"), timeout=PATIENCE, context=context)
    with contextlib.closing(connection):
        connection.request("GET", "/transitions", headers={"Arbiter-Part": str(shard)})
        return connection.getresponse().status


@pytest.fixture
def nodes(etcd, daemon, tmp_path) -> Callable[[Authority], tuple[list[Daemon], list[Shown], dict[int, str], str]]:
    """Starts two nodes with certificates of an authority.

    Returns the nodes, their files, the address of the node that serves each shard, and that of the second node.
    """
    def start(trusted: Authority) -> tuple[list[Daemon], list[Shown], dict[int, str], str]:
        files = [Shown(tmp_path, name) for name in ("a", "b")]
        for each in files:
            each.show(node_certificate(trusted, "node"), trusted)
        a, b = (daemon("--journal", "etcd", "--etcd", etcd, "--shards", str(SHARDS), "--etcd-lease-seconds", "20",
                       "--peer-listen", "tls:127.0.0.1:0", *each.options("peer")) for each in files)

        def owners() -> dict[int, str]:
            return {owner["shard"]: owner["node"] for owner in a.ask("GET", "/cluster")[1]["owners"]}

        assert polled(lambda: len(set(owners().values())) == SHARDS)
        return [a, b], files, owners(), b.ask("GET", "/cluster")[1]["node"]

    return start


def test_a_long_event_comes_whole_through_another_node_to_a_client_that_reads_late(nodes, authority):
    (a, b), _, served, other = nodes(authority("only"))
    name = scene(served, other, 0)
    children = [f"{number:0>30}" for number in range(9_999)]
    declared = b.ask("PUT", f"/scenes/{name}/storyboard", {"root": {"id": "root", "kind": "tabs", "children": children}})
    assert declared[0] == 200, declared
    client = a.connect()
    # It begins with a reset, which tells the whole scene.
    client.request("GET", f"/scenes/{name}/events?since=1000")

    def unread() -> int:
        count = array.array("i", [0])
        fcntl.ioctl(client.sock, termios.FIONREAD, count)
        return count[0]

    def waits() -> bool:
        """Whether nothing more comes while others are served."""
        before = unread()
        for _ in range(20):
            assert a.ask("GET", f"/transitions?scene={name}")[0] == 200
        return 0 < before == unread() < len(children) * len(children[0])

    assert polled(waits)
    line = next(line for line in client.getresponse() if line.startswith(b"data: "))
    told = json.loads(line.removeprefix(b"data: "))
    assert [child["id"] for child in told["hierarchy"]["children"]] == children


def test_nodes_change_to_a_new_authority_and_nobody_who_waits_is_dropped(nodes, authority):
    first, second = authority("first"), authority("second")
    (a, b), files, served, other = nodes(first)
    names = [scene(served, other, number) for number in range(6)]

    def start(name: str) -> tuple[int, dict]:
        return a.ask("POST", "/transitions/start", {"scene": name, "leaseSeconds": 300})

    def wait_for(name: str) -> tuple[dict, http.client.HTTPConnection]:
        """Has somebody wait at the other node; the holder's credentials, and where the answer comes."""
        holder = start(name)
        assert holder[0] == 201, holder
        waiting = a.connect()
        waiting.request("POST", "/transitions/serialize?wait=60", json.dumps({"scene": name}),
                        {"Content-Type": "application/json"})
        assert polled(lambda: a.ask("GET", f"/transitions?scene={name}&state=queued")[1]["transitions"])
        return {"id": holder[1]["id"], "token": holder[1]["token"]}, waiting

    def is_granted(holder: dict, waiting: http.client.HTTPConnection) -> bool:
        return a.ask("POST", "/transitions/end", holder)[0] == 200 and waiting.getresponse().status == 201

    def status(trusted: Authority, signer: Authority) -> int:
        shard = next(shard for shard, node in served.items() if node == other)
        return node_status(other, shard, trusted.trust(node_certificate(signer, "node")))

    assert polled(lambda: status(first, first) == 200)
    parked = wait_for(names[0])

    for each in files:
        each.show(node_certificate(second, "node"), second)
    for node in (a, b):
        assert "has been read again" in reload(node, READ_AGAIN)
    assert status(second, second) == 200
    # One that the new authority has not signed is no node any more, and does not get past the handshake.
    with pytest.raises((ssl.SSLError, http.client.RemoteDisconnected, ConnectionError)):
        status(second, first)
    assert start(names[1])[0] == 201
    assert is_granted(*parked)

    # A key that is not that of the certificate changes nothing, also for connections that are made then.
    shutil.copy(node_certificate(second, "stranger")[1], files[0].key)
    assert "stays as it was" in reload(a, READ_AGAIN)
    waiting = [wait_for(name) for name in names[2:5]]
    assert start(names[5])[0] == 201
    for holder, connection in waiting:
        assert is_granted(holder, connection)


class Member:
    """In the place of etcd: notes which certificates and passwords it is shown, and serves nothing."""

    def __init__(self, certificate: tuple[Path, Path], authority: Authority) -> None:
        member = self
        self.keeps_connections = True
        self.shown: list[tuple[str, str]] = []

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                subject = dict(field for fields in self.connection.getpeercert()["subject"] for field in fields)
                member.shown.append((subject["commonName"], body.get("password", "")))
                self.close_connection = not member.keeps_connections
                self.send_response(503)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*map(str, certificate))
        context.load_verify_locations(str(authority.certificate))
        context.verify_mode = ssl.CERT_REQUIRED
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def is_shown(self, certificate: str, password: str) -> bool:
        """Whether the next requests come with these."""
        self.shown.clear()
        return polled(lambda: len(self.shown) >= 3 and set(self.shown[-2:]) == {(certificate, password)})


@pytest.fixture
def member(authority) -> Iterator[Callable[[Authority], Member]]:
    members: list[Member] = []

    def start(trusted: Authority) -> Member:
        members.append(Member(trusted.sign("member", "serverAuth"), trusted))
        return members[-1]

    yield start
    for each in members:
        each.server.shutdown()
        each.server.server_close()


def test_etcd_is_shown_a_new_certificate_and_a_new_password(daemon, authority, member, tmp_path):
    trusted = authority("etcd")
    etcd = member(trusted)
    files, password = Shown(tmp_path, "node"), tmp_path / "password"
    files.show(trusted.sign("one", "clientAuth"), trusted)
    password.write_text("first\n")
    node = daemon("--journal", "etcd", "--etcd", f"https://127.0.0.1:{etcd.server.server_port}", "--etcd-user", "node",
                  "--etcd-password-file", str(password), "--peer-listen", "127.0.0.1:0", *files.options("etcd"))
    assert etcd.is_shown("one", "first")

    # What is not yet read again counts for nothing, also where a connection is new.
    files.show(trusted.sign("two", "clientAuth"), trusted)
    password.write_text("second\n")
    etcd.keeps_connections = False
    assert etcd.is_shown("one", "first")
    etcd.keeps_connections = True
    assert etcd.is_shown("one", "first")

    assert "have been read again" in reload(node, "the files for etcd")
    assert etcd.is_shown("two", "second")

    files.key.write_text("no key")
    assert "stay as they were" in reload(node, "the files for etcd")
    etcd.keeps_connections = False
    assert etcd.is_shown("two", "second")


def test_files_for_nodes_and_etcd_that_are_wrong_keep_it_from_starting(authority, tmp_path):
    trusted = authority("a")
    certificate, key = node_certificate(trusted, "node")
    empty = tmp_path / "empty"
    empty.write_text("")
    for kind, listen in (("peer", "tls:127.0.0.1:0"), ("etcd", "127.0.0.1:0")):
        for files, reason in ([[certificate, empty, trusted.certificate], "are no certificate and its key"],
                              [[certificate, key, empty], "has no certificate of an authority"]):
            names = [f"--{kind}-{name}" for name in ("certificate", "key", "ca")]
            options = ["--peer-listen", listen, *(str(part) for pair in zip(names, files) for part in pair)]
            for command in ([], ["config", "check"]):
                ended = subprocess.run(
                    [os.environ["ARBITERD"], *command, "--listen", "127.0.0.1:0", "--journal", "etcd",
                     "--etcd", "https://127.0.0.1:1", *options], capture_output=True, text=True, timeout=PATIENCE)
                assert ended.returncode == 78, ended.stderr
                assert reason in ended.stderr
