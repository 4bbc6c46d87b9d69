"""Hosts that are network namespaces on one bridge, with clocks of their own, and cuts between them."""

import ctypes
import os
import subprocess
from dataclasses import dataclass

CLONE_NEWNET = 0x40000000


def run(*words: object, given: str | None = None) -> None:
    result = subprocess.run([str(word) for word in words], input=given, capture_output=True, text=True)
    if result.returncode:
        raise RuntimeError(f"{' '.join(map(str, words))}: {result.stderr.strip()}")


@dataclass(frozen=True)
class Host:
    name: str
    namespace: str
    address: str
    # The time namespace, in which the machine has been up for another time; empty if it has this machine's clocks.
    clocks: str = ""

    def command(self, *words: object) -> list[str]:
        """The command in this host; its process is the one that is started, since nsenter becomes it."""
        clocks = [f"--time={self.clocks}"] if self.clocks else []
        return ["nsenter", f"--net=/run/netns/{self.namespace}", *clocks, "--", *map(str, words)]


class Clocks:
    """Time namespaces: each lasts as long as the descriptor that is open here."""

    def __init__(self) -> None:
        self._descriptors: list[int] = []

    def add(self, seconds: int) -> str:
        """Clocks of a machine that has been up for so much longer than this one; empty if they cannot be made."""
        if not seconds:
            return ""
        # The process is in it, or its children would be, as the kernel has it.
        with subprocess.Popen(
                ["unshare", "--time", "--boottime", str(seconds), "--monotonic", str(seconds), "--",
                 "sh", "-c", "echo made; exec sleep 60"], stdout=subprocess.PIPE, text=True) as process:
            try:
                if process.stdout.readline() != "made\n":
                    print("every node has this machine's uptime: a time namespace cannot be made here", flush=True)
                    return ""
                descriptor = os.open(f"/proc/{process.pid}/ns/time_for_children", os.O_RDONLY)
            finally:
                process.kill()
        self._descriptors.append(descriptor)
        return f"/proc/{os.getpid()}/fd/{descriptor}"

    def close(self) -> None:
        while self._descriptors:
            os.close(self._descriptors.pop())


class Network:
    """The namespaces, which all are gone after `close`. This process itself is on the bridge."""

    def __init__(self) -> None:
        # The name has this process in it, so that several runs do not meet.
        self._prefix = f"arbiter-{os.getpid()}"
        self._namespaces: list[str] = []
        self._clocks = Clocks()
        self.hosts: dict[str, Host] = {}
        self._home = os.open("/proc/self/ns/net", os.O_RDONLY)
        try:
            self._bridge = self._add("bridge")
            run("ip", "-n", self._bridge, "link", "add", "bridge0", "type", "bridge")
            run("ip", "-n", self._bridge, "address", "add", "198.18.0.254/24", "dev", "bridge0")
            run("ip", "-n", self._bridge, "link", "set", "bridge0", "up")
        except BaseException:
            self.close()
            raise

    def _add(self, name: str) -> str:
        namespace = f"{self._prefix}-{name}"
        run("ip", "netns", "add", namespace)
        self._namespaces.append(namespace)
        run("ip", "-n", namespace, "link", "set", "lo", "up")
        return namespace

    def add(self, name: str, last: int, uptime: int = 0) -> Host:
        """A host; `uptime` is for how many seconds longer than this machine it has been up."""
        host = Host(name, self._add(name), f"198.18.0.{last}", self._clocks.add(uptime))
        run("ip", "-n", self._bridge, "link", "add", f"to-{name}", "type", "veth", "peer", "name", "link0", "netns",
            host.namespace)
        run("ip", "-n", self._bridge, "link", "set", f"to-{name}", "master", "bridge0", "up")
        run("ip", "-n", host.namespace, "address", "add", f"{host.address}/24", "dev", "link0")
        run("ip", "-n", host.namespace, "link", "set", "link0", "up")
        run(*host.command("nft", "-f", "-"), given="""
            table inet cut {
                chain from { type filter hook output priority 0; }
                chain to { type filter hook input priority 0; }
            }""")
        self.hosts[name] = host
        return host

    def enter(self) -> None:
        """Moves this thread, and those that it starts from now on, to the bridge."""
        self._move(os.open(f"/run/netns/{self._bridge}", os.O_RDONLY))

    def _move(self, descriptor: int) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.setns(descriptor, CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "setns")

    # MARK: - Cuts

    def cut(self, source: Host, target: Host, port: int | None = None) -> None:
        """Drops what the source sends to the target; with a port, only what is sent to or from that port there."""
        if port is None:
            run(*source.command("nft", "add", "rule", "inet", "cut", "from", "ip", "daddr", target.address, "drop"))
        else:
            run(*source.command("nft", "add", "rule", "inet", "cut", "from", "ip", "daddr", target.address, "tcp",
                                "dport", port, "drop"))

    def silence(self, host: Host) -> None:
        """Drops everything to and from a host, whose peers hear no reset."""
        run(*host.command("nft", "-f", "-"), given="""
            add rule inet cut from oifname "link0" drop
            add rule inet cut to iifname "link0" drop""")

    def heal(self) -> None:
        """Takes all cuts away."""
        for host in self.hosts.values():
            run(*host.command("nft", "flush", "table", "inet", "cut"))

    def close(self) -> None:
        self._move(self._home)
        self._clocks.close()
        for namespace in reversed(self._namespaces):
            subprocess.run(["ip", "netns", "delete", namespace], check=False)
