"""Three members of etcd and three nodes, each in its own network namespace."""

import base64
import collections
import http.client
import json
import os
import queue
import re
import shutil
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from network import Host, Network, run

HERE = Path(__file__).parent
# For how many seconds longer than this machine each node's machine has been up: owners with longer and shorter uptimes
# take over from one another.
UPTIMES = (0, 3 * 3600, 400 * 86400)
# What a member of etcd may store, in MiB; the least that a node can be told.
QUOTA = 64
# How long a process may take to start, and the cluster to work again.
PATIENCE = 120


class Process:
    """A program in a host, which is ended by its own pid and can be started again."""

    def __init__(self, host: Host, command: list[object], log: Path) -> None:
        (self.host, self.command, self.log) = (host, command, log)
        self.process: subprocess.Popen | None = None

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.host.command(*self.command), stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def kill(self) -> None:
        if self.is_running:
            self.process.kill()
            self.process.wait(PATIENCE)

    def __str__(self) -> str:
        return self.host.name


class Member(Process):
    """A member of etcd."""

    def __init__(self, host: Host, others: list[Host], data: Path, logs: Path) -> None:
        here = f"http://{host.address}"
        super().__init__(host, [
            "etcd", "--name", host.name, "--data-dir", data / host.name, "--logger", "zap",
            "--listen-client-urls", f"{here}:2379", "--advertise-client-urls", f"{here}:2379",
            "--listen-peer-urls", f"{here}:2380", "--initial-advertise-peer-urls", f"{here}:2380",
            "--initial-cluster", ",".join(f"{other.name}=http://{other.address}:2380" for other in others),
            "--initial-cluster-state", "new", "--heartbeat-interval", "100", "--election-timeout", "1000",
            "--snapshot-count", "5000", "--quota-backend-bytes", QUOTA << 20], logs / f"{host.name}.log")

    def ask(self, path: str, body: object = None, patience: float = 2) -> dict | None:
        method, data = ("GET", None) if body is None else ("POST", json.dumps(body))
        return (ask(self.host.address, 2379, method, path, data, patience) or (None, None))[1]

    @property
    def is_healthy(self) -> bool:
        return (self.ask("/health") or {}).get("health") == "true"

    @property
    def is_leader(self) -> bool:
        status = self.ask("/v3/maintenance/status", {}) or {}
        return "leader" in status and status["leader"] == status["header"]["member_id"]


def ask(address: str, port: int, method: str, path: str, data: str | None = None,
        patience: float = 2) -> tuple[int, dict] | None:
    """Status and JSON of an answer; `None` if there is none."""
    connection = http.client.HTTPConnection(address, port, timeout=patience)
    try:
        connection.request(method, path, data)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    except (OSError, http.client.HTTPException, ValueError):
        return None
    finally:
        connection.close()


class Proxy:
    """The proxy between a node and etcd, in the host of the node; it outlives it."""

    def __init__(self, host: Host, members: list[Member], log: Path) -> None:
        ports = [f"{23790 + index}={member.host.address}:2379" for index, member in enumerate(members)]
        self.urls = [f"http://127.0.0.1:{23790 + index}" for index in range(len(members))]
        self._log = log.open("ab")
        self.process = subprocess.Popen(
            host.command(sys.executable, HERE / "proxy.py", *ports), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self._log, text=True)
        self.lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self.lines.get(timeout=PATIENCE)

    def _read(self) -> None:
        for line in self.process.stdout:
            self._log.write(f"{time.monotonic():.3f} {line}".encode())
            self._log.flush()
            self.lines.put(line.strip())

    def tell(self, command: str) -> None:
        while not self.lines.empty():
            self.lines.get()
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE)


@dataclass(frozen=True)
class Version:
    """A build of arbiterd, with options that only it gets."""

    arbiterd: Path
    options: tuple[str, ...] = ()


class Node(Process):
    """A node of arbiterd."""

    def __init__(self, versions: list[Version], host: Host, urls: list[str], certificates: "Certificates", lease: int,
                 shards: int, logs: Path) -> None:
        certificate, key = certificates.sign(host)
        self.proxy: Proxy | None = None
        # The newest is the last; a node begins with the first.
        self.versions = versions
        self.version = 0
        self._words = [
            "--listen", f"{host.address}:8080", "--insecure", "--journal", "etcd",
            *(word for url in urls for word in ("--etcd", url)), "--etcd-lease-seconds", lease, "--shards", shards,
            "--etcd-quota", f"{QUOTA}MB",
            "--advertise", f"https://{host.address}:7080", "--peer-listen", f"tls:{host.address}:7080",
            "--peer-certificate", certificate, "--peer-key", key, "--peer-ca", certificates.authority,
            "--log-level", os.environ.get("LOG_LEVEL", "debug")]
        super().__init__(host, [], logs / f"{host.name}.log")

    def start(self) -> None:
        version = self.versions[self.version]
        self.command = [version.arbiterd, *self._words, *version.options]
        super().start()

    def is_outdated(self) -> bool:
        """Whether it has ended because the cluster has adopted rules that only a newer version knows."""
        if self.is_newest or self.is_running:
            return False
        last = self.log.read_text(errors="replace").splitlines()[-5:]
        return self.process.returncode > 0 and any("rules" in line for line in last)

    @property
    def is_newest(self) -> bool:
        return self.version == len(self.versions) - 1

    def unready(self) -> str | None:
        """The code with which `/readyz` says that it is not ready; `None` without such an answer."""
        status, body = ask(self.host.address, 8080, "GET", "/readyz") or (None, {})
        return body.get("code") if status == 503 else None


class Certificates:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.authority = directory / "authority.crt"
        self._key = directory / "authority.key"
        run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
            "2", "-subj", "/CN=nodes", "-keyout", self._key, "-out", self.authority)

    def sign(self, host: Host) -> tuple[Path, Path]:
        certificate, key, request, extensions = (
            self.directory / f"{host.name}.{kind}" for kind in ("crt", "key", "csr", "ext"))
        extensions.write_text(f"subjectAltName=IP:{host.address}\nextendedKeyUsage=serverAuth,clientAuth\n")
        run("openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
            f"/CN={host.name}", "-keyout", key, "-out", request)
        run("openssl", "x509", "-req", "-in", request, "-CA", self.authority, "-CAkey", self._key, "-CAcreateserial",
            "-days", "2", "-extfile", extensions, "-out", certificate)
        return certificate, key


class Cluster:
    def __init__(self, versions: list[Version], lease: int, shards: int, logs: Path, data: Path) -> None:
        (self.lease, self.shards, self.logs, self._data) = (lease, shards, logs, data)
        # How often a node did not start because its version is too old for what the others have adopted.
        self.refused = 0
        self._proxies: list[Proxy] = []
        self.members: list[Member] = []
        self.nodes: list[Node] = []
        self.network = Network()
        try:
            self._make(versions)
        except BaseException:
            self.close()
            raise

    def _make(self, versions: list[Version]) -> None:
        network, logs = self.network, self.logs
        hosts = [network.add(f"etcd{number}", 10 + number) for number in (1, 2, 3)]
        homes = [network.add(f"node{number}", 20 + number, uptime) for number, uptime in enumerate(UPTIMES, 1)]
        network.enter()
        certificates = Certificates(self._data)
        self.members = [Member(host, hosts, self._data, logs) for host in hosts]
        for member in self.members:
            member.start()
        for index, host in enumerate(homes):
            # The first node asks etcd directly.
            proxy = Proxy(host, self.members, logs / f"{host.name}-proxy.log") if index else None
            if proxy:
                self._proxies.append(proxy)
            urls = proxy.urls if proxy else [f"http://{member.host.address}:2379" for member in self.members]
            # Each node begins with another member.
            urls = urls[index:] + urls[:index]
            node = Node(versions, host, urls, certificates, self.lease, self.shards, logs)
            node.proxy = proxy
            self.nodes.append(node)
        wait_for("etcd works", lambda: all(member.is_healthy for member in self.members))
        for node in self.nodes:
            node.start()

    def close(self) -> None:
        try:
            for process in [*self.nodes, *self.members]:
                process.kill()
            for proxy in self._proxies:
                proxy.kill()
        finally:
            self.network.close()
            shutil.rmtree(self._data, ignore_errors=True)

    # MARK: - Who does what

    def tenures(self) -> dict[int, tuple[Node, str]]:
        """The owner of each shard that has one, and the revision at which it has claimed it."""
        prefix = b"/arbiter/owner/"
        wanted = {"key": base64.b64encode(prefix).decode(), "range_end": base64.b64encode(b"/arbiter/owner0").decode()}
        for member in self.members:
            found = member.ask("/v3/kv/range", wanted)
            if found and "header" in found:
                return {int(base64.b64decode(each["key"])[len(prefix):]): (
                    self._node(each["value"]), each["create_revision"]) for each in found.get("kvs", [])}
        return {}

    def _node(self, value: str) -> Node:
        address = json.loads(base64.b64decode(value))["address"]
        host = re.sub(r"^https://(.+):\d+$", r"\1", address)
        return next(node for node in self.nodes if node.host.address == host)

    def owner(self, shard: int) -> Node:
        return wait_for(f"a node owns shard {shard}", lambda: self.tenures().get(shard))[0]

    def shared_out(self) -> dict[int, tuple[Node, str]]:
        """The owners of all shards, when no node has more than its share."""
        def found() -> dict[int, tuple[Node, str]] | None:
            tenures = self.tenures()
            counts = collections.Counter(node for node, _ in tenures.values())
            share = -(-self.shards // len(self.nodes))
            return tenures if len(tenures) == self.shards and max(counts.values()) <= share else None

        return wait_for("every node owns its share", found)

    def leader(self) -> Member:
        return wait_for("etcd has a leader", lambda: next((each for each in self.members if each.is_leader), None))

    def revive(self) -> list[str]:
        """Starts the processes again that have ended by themselves, and says how those did."""
        found = []
        for each in [*self.nodes, *self.members]:
            if each.is_running:
                continue
            if isinstance(each, Node) and each.is_outdated():
                # While it was away, the others have adopted what it does not know.
                each.version += 1
                self.refused += 1
            else:
                found.append(f"{each} ended by itself with {each.process.returncode}, before {time.monotonic():.3f}")
            each.start()
        return found


class TooLate(Exception):
    pass


def wait_for(what: str, condition, patience: float = PATIENCE):
    """Waits until a condition holds, which is looked at again and again, and returns what it says."""
    deadline = time.monotonic() + patience
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > deadline:
            raise TooLate(f"not within {patience:.0f} s: {what}")
        time.sleep(0.05)
