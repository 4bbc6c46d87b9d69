"""The servers that are measured, each on a port of loopback and in a directory of its own."""

import contextlib
import http.client
import os
import shutil
import socket
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from measure.processes import free_port, port_of_ready_line, running, wait_until


class ServerMissing(Exception):
    """A server that is needed is not installed."""


@dataclass(frozen=True)
class Server:
    """A running server."""

    # As in `rows.SERVERS`.
    name: str
    # How the load generator speaks to it.
    protocol: str
    port: int
    pid: int
    # The ports of further nodes, and further processes that work for the server.
    more_ports: tuple[int, ...] = ()
    more_pids: tuple[int, ...] = ()

    @property
    def ports(self) -> tuple[int, ...]:
        return self.port, *self.more_ports

    @property
    def pids(self) -> tuple[int, ...]:
        return self.pid, *self.more_pids


@dataclass(frozen=True)
class Programs:
    """Where the programs are."""

    arbiterd: Path
    floor: Path
    load: Path
    cost: Path
    redis: str | None
    etcd: str | None

    @classmethod
    def find(cls, arbiterd: Path, tools: Path) -> "Programs":
        return cls(arbiterd, tools / "floor", tools / "load", tools / "cost",
                   shutil.which("redis-server"), shutil.which("etcd"))


@contextlib.contextmanager
def arbiter(program: Path, journal: str, directory: Path) -> Iterator[Server]:
    """The daemon; `journal` is memory, crash or power."""
    directory.mkdir(parents=True, exist_ok=True)
    log = directory / "log"
    with running(arbiter_command(program, journal, directory), log) as process:
        yield Server(journal, "arbiter", port_of_ready_line(process, log), process.pid)


def arbiter_command(program: Path, journal: str, directory: Path) -> list[str]:
    kept = ["--journal", "memory"] if journal == "memory" else ["--durability", journal, "--data", f"{directory}/data"]
    return [str(program), "--listen", "127.0.0.1:0", "--log-level", "error", *kept]


@contextlib.contextmanager
def floor(program: Path, directory: Path) -> Iterator[Server]:
    """The bare C handler, with as many threads as the daemon has by default."""
    directory.mkdir(parents=True)
    log = directory / "log"
    with running([str(program), str(os.cpu_count())], log) as process:
        yield Server("floor", "floor", port_of_ready_line(process, log), process.pid)


@contextlib.contextmanager
def redis(program: str, name: str, directory: Path) -> Iterator[Server]:
    """Redis in memory, or as `redis-always` with every write on disk before its answer."""
    directory.mkdir(parents=True)
    log, port = directory / "log", free_port()
    kept = ["--appendonly", "yes", "--appendfsync", "always"] if name == "redis-always" else ["--appendonly", "no"]
    command = [program, "--bind", "127.0.0.1", "--port", str(port), "--dir", str(directory), "--save", "",
               "--logfile", str(log), *kept]
    with running(command, log) as process:
        wait_until(lambda: answers_ping(port), process, log)
        yield Server(name, "redis", port, process.pid)


def answers_ping(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(16).startswith(b"+PONG")
    except OSError:
        return False


@contextlib.contextmanager
def etcd(program: str, directory: Path) -> Iterator[Server]:
    """One node of etcd, a cluster of its own."""
    directory.mkdir(parents=True)
    log, port = directory / "log", free_port()
    clients, peers = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{free_port()}"
    command = [program, "--data-dir", f"{directory}/data", "--logger", "zap", "--log-level", "error",
               "--listen-client-urls", clients, "--advertise-client-urls", clients, "--listen-peer-urls", peers,
               "--initial-advertise-peer-urls", peers, "--initial-cluster", f"default={peers}"]
    with running(command, log) as process:
        wait_until(lambda: is_healthy(port), process, log)
        yield Server("etcd", "etcd", port, process.pid)


def is_healthy(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=1)
    try:
        connection.request("GET", "/health")
        return b'"true"' in connection.getresponse().read()
    except OSError:
        return False
    finally:
        connection.close()


def start_all(programs: Programs, directory: Path, stack: contextlib.ExitStack) -> list[Server]:
    """Starts every server that is installed, and says which are not."""
    servers = [stack.enter_context(floor(programs.floor, directory / "floor"))]
    servers += [stack.enter_context(arbiter(programs.arbiterd, journal, directory / journal))
                for journal in ("memory", "crash", "power")]
    # One more, whose clients name a session in every request.
    other = stack.enter_context(arbiter(programs.arbiterd, "memory", directory / "session"))
    servers.insert(2, replace(other, name="session", protocol="arbiter-session"))
    if programs.redis is None:
        print("There is no redis-server; its columns are left out.")
    else:
        servers += [stack.enter_context(redis(programs.redis, name, directory / name))
                    for name in ("redis", "redis-always")]
    if programs.etcd is None:
        print("There is no etcd; its column is left out.")
    else:
        servers.append(stack.enter_context(etcd(programs.etcd, directory / "etcd")))
    return servers
