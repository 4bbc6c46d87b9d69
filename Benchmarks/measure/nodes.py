"""Clusters of the arbiter: nodes on the same members of etcd, each cluster under a prefix of its own."""

import contextlib
import json
import subprocess
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from measure.members import Members
from measure.processes import PATIENCE_SECONDS, ServerFailed, end, free_port, port_of_ready_line, start
from measure.servers import Server

SLOTS = 1 << 14
# The default.
LEASE_SECONDS = 5


@dataclass
class Node:
    """A node, which keeps its ports when it is started again."""

    command: list[str]
    log: Path
    address: str
    process: subprocess.Popen | None = None
    port: int = 0

    def start(self) -> None:
        self.process = start(self.command, self.log)
        self.port = port_of_ready_line(self.process, self.log)


@dataclass
class Cluster:
    name: str
    prefix: str
    shards: int
    etcd: Members
    nodes: list[Node] = field(default_factory=list)

    def as_server(self) -> Server:
        """All nodes and the members, as one server: clients are divided among the nodes."""
        ports = [node.port for node in self.nodes]
        pids = [*(node.process.pid for node in self.nodes), *self.etcd.pids]
        return Server(self.name, "arbiter", ports[0], pids[0], tuple(ports[1:]), tuple(pids[1:]))

    def owners(self) -> dict[int, str]:
        """The addresses of the nodes that own shards, by the shards."""
        keys = self.etcd.values(f"{self.prefix}owner/")
        return {int(shard): json.loads(node)["address"] for shard, node in keys.items()}

    def wait_until_divided(self) -> None:
        """Waits until every shard has an owner, and no node more than its share."""
        share = -(-self.shards // len(self.nodes))
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            owners = list(self.owners().values())
            if len(owners) == self.shards and max(owners.count(node.address) for node in self.nodes) <= share:
                return
            if time.monotonic() > deadline:
                raise ServerFailed(f"{self.name}: the shards are not divided evenly: {self.owners()}")
            time.sleep(0.02)

    def scene_in(self, shard: int) -> str:
        """The name of a scene that is in a shard."""
        return next(name for name in (f"probe-{number}" for number in range(100 * self.shards))
                    if (zlib.crc32(name.encode()) & (SLOTS - 1)) * self.shards // SLOTS == shard)


@contextlib.contextmanager
def nodes(program: Path, name: str, etcd: Members, directory: Path, count: int, shards: int) -> Iterator[Cluster]:
    directory.mkdir(parents=True)
    cluster = Cluster(name, f"/{name}/", shards, etcd)
    try:
        for index in range(count):
            node = Node(command(program, cluster, index), directory / f"log-{index}", "")
            node.address = f"http://{node.command[-1]}"
            cluster.nodes.append(node)
            node.start()
        yield cluster
    finally:
        for node in cluster.nodes:
            if node.process is not None:
                end(node.process)


def command(program: Path, cluster: Cluster, index: int) -> list[str]:
    """Each node asks another member first, as it would where each machine has one of both."""
    first = index % len(cluster.etcd.endpoints)
    endpoints = cluster.etcd.endpoints[first:] + cluster.etcd.endpoints[:first]
    return [str(program), "--journal", "etcd", *(word for endpoint in endpoints for word in ("--etcd", endpoint)),
            "--etcd-prefix", cluster.prefix, "--etcd-lease-seconds", str(LEASE_SECONDS),
            "--shards", str(cluster.shards), "--log-level", "error",
            "--listen", f"127.0.0.1:{free_port()}", "--peer-listen", f"127.0.0.1:{free_port()}"]
