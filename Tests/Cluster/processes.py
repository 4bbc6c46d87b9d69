"""Three members of etcd and three nodes, each in its own network namespace."""

import base64
import http.client
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from network import Host, Network, run

HERE = Path(__file__).parent
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
            "--snapshot-count", "5000"], logs / f"{host.name}.log")

    def ask(self, path: str, body: object = None, patience: float = 2) -> dict | None:
        connection = http.client.HTTPConnection(self.host.address, 2379, timeout=patience)
        try:
            method, data = ("GET", None) if body is None else ("POST", json.dumps(body))
            connection.request(method, path, data)
            return json.loads(connection.getresponse().read())
        except (OSError, http.client.HTTPException, ValueError):
            return None
        finally:
            connection.close()

    @property
    def is_healthy(self) -> bool:
        return (self.ask("/health") or {}).get("health") == "true"

    @property
    def is_leader(self) -> bool:
        status = self.ask("/v3/maintenance/status", {}) or {}
        return "leader" in status and status["leader"] == status["header"]["member_id"]


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


class Node(Process):
    """A node of arbiterd."""

    def __init__(self, arbiterd: Path, host: Host, urls: list[str], certificates: "Certificates", lease: int,
                 shards: int, logs: Path) -> None:
        certificate, key = certificates.sign(host)
        super().__init__(host, [
            arbiterd, "--listen", f"{host.address}:8080", "--insecure", "--journal", "etcd",
            *(word for url in urls for word in ("--etcd", url)), "--etcd-lease-seconds", lease, "--shards", shards,
            "--advertise", f"https://{host.address}:7080", "--peer-listen", f"tls:{host.address}:7080",
            "--peer-certificate", certificate, "--peer-key", key, "--peer-ca", certificates.authority,
            "--log-level", os.environ.get("LOG_LEVEL", "debug")], logs / f"{host.name}.log")
        self.proxy: Proxy | None = None


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
    def __init__(self, arbiterd: Path, lease: int, shards: int, logs: Path, data: Path) -> None:
        (self.lease, self.shards, self.logs, self._data) = (lease, shards, logs, data)
        self._proxies: list[Proxy] = []
        self.members: list[Member] = []
        self.nodes: list[Node] = []
        self.network = Network()
        try:
            self._make(arbiterd)
        except BaseException:
            self.close()
            raise

    def _make(self, arbiterd: Path) -> None:
        network, logs = self.network, self.logs
        hosts = [network.add(f"etcd{number}", 10 + number) for number in (1, 2, 3)]
        homes = [network.add(f"node{number}", 20 + number) for number in (1, 2, 3)]
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
            node = Node(arbiterd, host, urls, certificates, self.lease, self.shards, logs)
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

    def owner_now(self) -> Node | None:
        """The node that owns the first shard."""
        key = base64.b64encode(b"/arbiter/owner/0").decode()
        for member in self.members:
            found = (member.ask("/v3/kv/range", {"key": key}) or {}).get("kvs")
            if found:
                address = json.loads(base64.b64decode(found[0]["value"]))["address"]
                host = re.sub(r"^https://(.+):\d+$", r"\1", address)
                return next(node for node in self.nodes if node.host.address == host)
        return None

    def owner(self) -> Node:
        return wait_for("a node owns the first shard", self.owner_now)

    def leader(self) -> Member:
        return wait_for("etcd has a leader", lambda: next((each for each in self.members if each.is_leader), None))

    def hand_over(self, node: Node) -> None:
        """Restarts the node, so that another one owns the first shard."""
        node.signal(signal.SIGTERM)
        node.process.wait(PATIENCE)
        wait_for("another node owns the first shard", lambda: self.owner_now() not in (None, node))
        node.start()

    def revive(self) -> list[str]:
        """Starts the processes again that have ended by themselves, and says how those did."""
        dead = [each for each in [*self.nodes, *self.members] if not each.is_running]
        found = [f"{each} ended by itself with {each.process.returncode}, before {time.monotonic():.3f}"
                 for each in dead]
        for each in dead:
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
