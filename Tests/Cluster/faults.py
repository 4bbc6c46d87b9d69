"""What is done to the cluster. Each fault ends with every process running and every cut healed."""

import http.client
import json
import random
import signal
import threading
import time
from collections.abc import Callable

from clients import World, clock
from history import Call, Transition
from processes import Cluster, Node, wait_for

class Faults:
    def __init__(self, cluster: Cluster, world: World, seed: int) -> None:
        (self.cluster, self.world) = (cluster, world)
        self.random = random.Random(seed)
        # Kinds, each with how often it is drawn.
        self.kinds: dict[str, tuple[int, Callable[[], str]]] = {
            "node-kill": (3, self.node_kill),
            "node-terminate": (3, self.node_terminate),
            "nodes-kill-all": (1, self.nodes_kill_all),
            "owner-freeze": (3, self.owner_freeze),
            "etcd-kill": (2, self.etcd_kill),
            "etcd-leader-freeze": (2, self.etcd_leader_freeze),
            "etcd-no-quorum": (2, self.etcd_no_quorum),
            "cut-node-etcd": (3, self.cut_node_etcd),
            "cut-etcd-node": (2, self.cut_etcd_node),
            "cut-node-node": (2, self.cut_node_node),
            "cut-etcd-etcd": (2, self.cut_etcd_etcd),
            "relay-vanish": (2, self.relay_vanish),
            "proxy-drop": (2, self.proxy_drop),
            "proxy-delay": (2, self.proxy_delay),
            "proxy-delay-kill": (2, self.proxy_delay_kill),
            "proxy-twice": (2, self.proxy_twice),
        }
        self._bag: list[str] = []

    def draw(self, only: list[str] | None = None) -> str:
        """The next kind: every kind comes before one comes more often than its share."""
        if not self._bag:
            self._bag = [kind for kind, (count, _) in self.kinds.items() for _ in range(count)
                         if not only or kind in only]
            self.random.shuffle(self._bag)
            # The first of a run has one of each at its head, for short runs.
            heads = list(dict.fromkeys(self._bag))
            rest = list(self._bag)
            for kind in heads:
                rest.remove(kind)
            self._bag = rest[::-1] + heads[::-1]
        return self._bag.pop()

    def inject(self, kind: str) -> str:
        """Brings a fault about, ends it, and says what it was done to."""
        return self.kinds[kind][1]()

    # MARK: - Helpers

    def node(self) -> Node:
        """A node; more often than not the owner."""
        owner = self.cluster.owner()
        return owner if self.random.random() < 0.6 else self.other(owner)

    def other(self, node: Node) -> Node:
        return self.random.choice([each for each in self.cluster.nodes if each is not node])

    def role(self, node: Node) -> str:
        return f"{node}{' (owner)' if node is self.cluster.owner_now() else ''}"

    def last(self, least: float, most: float) -> float:
        """Lets a fault last for a while."""
        seconds = self.random.uniform(least, most)
        time.sleep(seconds)
        return seconds

    @property
    def lease(self) -> int:
        return self.cluster.lease

    # MARK: - Nodes

    def node_kill(self) -> str:
        node = self.node()
        target = self.role(node)
        node.kill()
        if self.random.random() < 0.5:
            self.last(0.1, self.lease + 2)
        node.start()
        return target

    def node_terminate(self) -> str:
        node = self.node()
        target = self.role(node)
        node.signal(signal.SIGTERM)
        code = node.process.wait(30)
        if code:
            self.world.violations.append(f"{node} ended with {code} after SIGTERM")
        node.start()
        return target

    def nodes_kill_all(self) -> str:
        for node in self.cluster.nodes:
            node.process.kill()
        for node in self.cluster.nodes:
            node.kill()
        if self.random.random() < 0.5:
            self.last(0.1, self.lease + 1)
        for node in self.random.sample(self.cluster.nodes, 3):
            node.start()
        return "all nodes"

    def owner_freeze(self) -> str:
        owner = self.cluster.owner()
        owner.signal(signal.SIGSTOP)
        asked = []
        try:
            over = clock() + self.lease + self.random.uniform(0.5, 4)
            while clock() < over:
                asked += self.ask_frozen(owner)
                time.sleep(0.25)
        finally:
            owner.signal(signal.SIGCONT)
        for thread in asked:
            thread.join(30)
        return f"{owner} (owner), {len(asked)} requests buffered"

    def ask_frozen(self, owner: Node) -> list[threading.Thread]:
        """Requests that the frozen node finds in its sockets when it goes on."""
        threads = []
        held = list(self.world.held.items())
        for scene, (id, token) in self.random.sample(held, min(len(held), 3)):
            threads.append(threading.Thread(
                target=self.ask, args=[owner, "renew", scene, id, {"id": id, "token": token}], daemon=True))
            threads.append(threading.Thread(target=self.ask, args=[owner, "look", scene, id, None], daemon=True))
        scene = self.random.choice(["start-a", "start-b"])
        threads.append(threading.Thread(
            target=self.ask, args=[owner, "start", scene, None, {"scene": scene, "leaseSeconds": 0.5}], daemon=True))
        for thread in threads:
            thread.start()
        return threads

    def ask(self, node: Node, kind: str, scene: str, id: str | None, body: dict | None) -> None:
        connection = http.client.HTTPConnection(node.host.address, 8080, timeout=25)
        sent = clock()
        status, code, seen = None, None, None
        try:
            if body is None:
                connection.request("GET", f"/transitions/{id}")
            else:
                connection.request(
                    "POST", f"/transitions/{kind}", json.dumps(body), {"Content-Type": "application/json"})
            response = connection.getresponse()
            answer = json.loads(response.read())
            status, code = response.status, answer.get("code")
            seen = Transition.of(answer if status < 300 else answer.get("transition"))
        except (OSError, http.client.HTTPException, ValueError):
            pass
        finally:
            connection.close()
        self.world.counts["asked while frozen"] += 1
        self.world.counts[f"frozen: {kind} {status} {code or ''}".strip()] += 1
        # Not the owner: what it says is no word that its owner counts on, but it has to be true.
        self.world.calls.append(
            Call("look" if kind == "renew" else kind, scene, sent, clock(), status, code, seen, id, client="freezer",
                 node=str(node)))

    # MARK: - etcd

    def etcd_kill(self) -> str:
        member = self.random.choice(self.cluster.members)
        target = f"{member}{' (leader)' if member.is_leader else ''}"
        member.kill()
        self.last(0.5, 4)
        member.start()
        return target

    def etcd_leader_freeze(self) -> str:
        leader = self.cluster.leader()
        leader.signal(signal.SIGSTOP)
        try:
            seconds = self.last(0.5, 2 * self.lease + 2)
        finally:
            leader.signal(signal.SIGCONT)
        return f"{leader} for {seconds:.1f} s"

    def etcd_no_quorum(self) -> str:
        two = self.random.sample(self.cluster.members, 2)
        kills = self.random.random() < 0.4
        for member in two:
            if kills:
                member.kill()
            else:
                member.signal(signal.SIGSTOP)
        try:
            seconds = self.last(self.lease + 0.5, self.lease + 5)
        finally:
            for member in two:
                if kills:
                    member.start()
                else:
                    member.signal(signal.SIGCONT)
        return f"{two[0]} and {two[1]} {'killed' if kills else 'frozen'} for {seconds:.1f} s"

    # MARK: - The network

    def healed_after(self, least: float, most: float) -> float:
        try:
            return self.last(least, most)
        finally:
            self.cluster.network.heal()

    def cut_node_etcd(self) -> str:
        node = self.node()
        target = self.role(node)
        members = self.random.choice([[self.random.choice(self.cluster.members)], self.cluster.members])
        for member in members:
            self.cluster.network.cut(node.host, member.host)
        seconds = self.healed_after(1, self.lease + 4)
        return f"{target} → {'all of etcd' if len(members) > 1 else members[0]} for {seconds:.1f} s"

    def cut_etcd_node(self) -> str:
        node = self.node()
        target = self.role(node)
        members = self.random.choice([[self.random.choice(self.cluster.members)], self.cluster.members])
        for member in members:
            self.cluster.network.cut(member.host, node.host)
        seconds = self.healed_after(1, self.lease + 4)
        return f"{'all of etcd' if len(members) > 1 else members[0]} → {target} for {seconds:.1f} s"

    def cut_node_node(self) -> str:
        source = self.node()
        target = self.other(source)
        names = f"{self.role(source)} → {self.role(target)}"
        port = self.random.choice([None, 7080])
        self.cluster.network.cut(source.host, target.host, port)
        seconds = self.healed_after(1, self.lease + 5)
        return f"{names}{' at the peer port' if port else ''} for {seconds:.1f} s"

    def cut_etcd_etcd(self) -> str:
        leader = self.cluster.leader()
        source = self.random.choice([leader, self.random.choice(self.cluster.members)])
        others = [each for each in self.cluster.members if each is not source]
        targets = self.random.choice([others, others, [self.random.choice(others)]])
        for target in targets:
            self.cluster.network.cut(source.host, target.host)
        seconds = self.healed_after(1, 2 * self.lease + 2)
        role = " (leader)" if source is leader else ""
        return f"{source}{role} → {' and '.join(map(str, targets))} for {seconds:.1f} s"

    def relay_vanish(self) -> str:
        relay = self.other(self.cluster.owner())
        self.cluster.network.silence(relay.host)
        dies = self.random.random() < 0.5
        try:
            if dies:
                relay.kill()
            seconds = self.last(1, self.lease + 5)
        finally:
            self.cluster.network.heal()
        if dies:
            relay.start()
        return f"{relay}{' and killed' if dies else ''} for {seconds:.1f} s"

    # MARK: - The proxy

    def owner_behind_proxy(self) -> Node:
        owner = self.cluster.owner()
        while owner.proxy is None:
            self.cluster.hand_over(owner)
            owner = self.cluster.owner()
        # It serves.
        began = clock()
        wait_for("the owner answers a start", lambda: any(
            sent > began and node == str(owner) for sent, _, node in self.world.probes[-20:]))
        return owner

    def proxy_drop(self) -> str:
        owner = self.owner_behind_proxy()
        count = self.random.randint(1, 6)
        owner.proxy.tell(f"drop {count}")
        for _ in range(count):
            owner.proxy.lines.get(timeout=30)
        return f"{count} answers to {owner} (owner)"

    def proxy_twice(self) -> str:
        owner = self.owner_behind_proxy()
        count = self.random.randint(1, 6)
        owner.proxy.tell(f"twice {count}")
        for _ in range(count):
            owner.proxy.lines.get(timeout=30)
        return f"{count} transactions of {owner} (owner)"

    def proxy_delay(self) -> str:
        owner = self.owner_behind_proxy()
        owner.proxy.tell("delay 10")
        for _ in ("caught", "passed on"):
            owner.proxy.lines.get(timeout=30)
        return f"a transaction of {owner} (owner) for 10 s"

    def proxy_delay_kill(self) -> str:
        """A transaction arrives when its node is dead and another one owns the shard, or the same node again."""
        owner = self.owner_behind_proxy()
        owner.proxy.tell("delay 10")
        owner.proxy.lines.get(timeout=30)
        owner.kill()
        if self.random.random() < 0.7:
            owner.start()
        owner.proxy.lines.get(timeout=30)
        if not owner.is_running:
            owner.start()
        return f"a transaction of {owner} (owner) for 10 s, and its node killed"
