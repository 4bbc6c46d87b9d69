"""Three members of etcd on loopback."""

import base64
import contextlib
import http.client
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from measure.processes import free_port, processor_seconds, running, wait_until
from measure.servers import Server, is_healthy

COUNT = 3


@dataclass(frozen=True)
class Members:
    ports: tuple[int, ...]
    pids: tuple[int, ...]

    @property
    def endpoints(self) -> list[str]:
        return [f"http://127.0.0.1:{port}" for port in self.ports]

    def as_server(self) -> Server:
        """The members as what they are compared as: their lock API, asked by the JSON gateway."""
        return Server("etcd-lock", "etcd-lock", self.ports[0], self.pids[0], self.ports[1:], self.pids[1:])

    def values(self, prefix: str) -> dict[str, str]:
        """The keys that begin with a prefix, without it, and their values."""
        end = prefix[:-1] + chr(ord(prefix[-1]) + 1)
        answer = self.post("/v3/kv/range", {"key": encoded(prefix), "range_end": encoded(end)})
        return {decoded(pair["key"]).removeprefix(prefix): decoded(pair["value"]) for pair in answer.get("kvs", [])}

    def commits(self) -> int:
        """How many proposals the members have agreed on so far: writes, and changes of leases."""
        return int(self.metric("etcd_server_proposals_committed_total"))

    def processor_seconds(self) -> float:
        """The processor time of all members so far."""
        return sum(processor_seconds(pid) for pid in self.pids)

    def metric(self, name: str) -> float:
        text = self.ask("GET", "/metrics", None)
        return float(next(line.split()[-1] for line in text.splitlines() if line.startswith(f"{name} ")))

    def post(self, path: str, message: dict) -> dict:
        return json.loads(self.ask("POST", path, json.dumps(message)))

    def ask(self, method: str, path: str, body: str | None) -> str:
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.ports[0], timeout=10)) as connection:
            connection.request(method, path, body)
            return connection.getresponse().read().decode()


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def decoded(text: str) -> str:
    return base64.b64decode(text).decode()


@contextlib.contextmanager
def members(program: str, directory: Path) -> Iterator[Members]:
    """Three members with what docs/cluster.md advises; nothing else uses them."""
    directory.mkdir(parents=True)
    ports = [(free_port(), free_port()) for _ in range(COUNT)]
    everyone = ",".join(f"m{index}=http://127.0.0.1:{peers}" for index, (_, peers) in enumerate(ports))
    with contextlib.ExitStack() as stack:
        processes = [stack.enter_context(running(command(program, directory, index, *ports[index], everyone),
                                                 directory / f"log-{index}")) for index in range(COUNT)]
        for index, (port, _) in enumerate(ports):
            wait_until(lambda port=port: is_healthy(port), processes[index], directory / f"log-{index}")
        yield Members(tuple(port for port, _ in ports), tuple(process.pid for process in processes))


def command(program: str, directory: Path, index: int, port: int, peer_port: int, everyone: str) -> list[str]:
    clients, peers = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{peer_port}"
    return [program, "--name", f"m{index}", "--data-dir", f"{directory}/data-{index}",
            "--logger", "zap", "--log-level", "error", "--snapshot-count", "5000",
            "--listen-client-urls", clients, "--advertise-client-urls", clients, "--listen-peer-urls", peers,
            "--initial-advertise-peer-urls", peers, "--initial-cluster", everyone, "--initial-cluster-state", "new"]
