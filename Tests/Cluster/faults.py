"""What is done to the cluster. Each fault ends with every process running and every cut healed."""

import http.client
import json
import queue
import random
import signal
import threading
import time
from collections.abc import Callable

from clients import KeyedStarter, Starter, World, clock
from history import Call, Transition, admitted_without_room, shard_of
from processes import PATIENCE, Cluster, Node, TooLate, wait_for
from space import Space

# Scenes with transitions that are often free.
SCENES = sorted({*Starter.scenes, *KeyedStarter.scenes})


class Faults:
    def __init__(self, cluster: Cluster, world: World, seed: int) -> None:
        (self.cluster, self.world) = (cluster, world)
        self.space = Space(cluster)
        self._delays = 0
        self.random = random.Random(seed)
        # Kinds, each with how often it is drawn.
        self.kinds: dict[str, tuple[int, Callable[[], str]]] = {
            "node-kill": (6, self.node_kill),
            "node-terminate": (6, self.node_terminate),
            "nodes-kill-all": (2, self.nodes_kill_all),
            "owner-freeze": (6, self.owner_freeze),
            "etcd-kill": (4, self.etcd_kill),
            "etcd-leader-freeze": (4, self.etcd_leader_freeze),
            "etcd-no-quorum": (4, self.etcd_no_quorum),
            "cut-node-etcd": (6, self.cut_node_etcd),
            "cut-etcd-node": (4, self.cut_etcd_node),
            "cut-node-node": (4, self.cut_node_node),
            "cut-etcd-etcd": (4, self.cut_etcd_etcd),
            "relay-vanish": (4, self.relay_vanish),
            "proxy-drop": (4, self.proxy_drop),
            "proxy-delay": (4, self.proxy_delay),
            "proxy-delay-kill": (4, self.proxy_delay_kill),
            "proxy-twice": (4, self.proxy_twice),
            "etcd-full": (1, self.etcd_full),
            "etcd-short": (1, self.etcd_short),
        }
        if len(cluster.nodes[0].versions) > 1:
            self.kinds["node-version"] = (6, self.node_version)
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
        """A node; it may own much, little or nothing just now."""
        return self.random.choice(self.cluster.nodes)

    def owner(self) -> Node:
        """The owner of one of the shards."""
        return self.cluster.owner(self.random.randrange(self.cluster.shards))

    def other(self, node: Node) -> Node:
        return self.random.choice([each for each in self.cluster.nodes if each is not node])

    def role(self, node: Node) -> str:
        owned = sorted(shard for shard, (owner, _) in self.cluster.tenures().items() if owner is node)
        return f"{node} (owns {', '.join(map(str, owned)) or 'nothing'})"

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
            self.last(0.1, self.lease + 1)
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
        owner = self.owner()
        target = self.role(owner)
        own = {shard for shard, (node, _) in self.cluster.tenures().items() if node is owner}
        owner.signal(signal.SIGSTOP)
        asked = []
        try:
            over = clock() + self.lease + self.random.uniform(0.3, 2)
            while clock() < over:
                asked += self.ask_frozen(owner, own)
                time.sleep(0.25)
        finally:
            owner.signal(signal.SIGCONT)
        for thread in asked:
            thread.join(30)
        return f"{target}, {len(asked)} requests buffered"

    def ask_frozen(self, owner: Node, own: set[int]) -> list[threading.Thread]:
        """Requests that the frozen node finds in its sockets when it goes on, for the shards that it owned before."""
        def is_own(scene: str) -> bool:
            return shard_of(scene, self.cluster.shards) in own

        threads = []
        held = [(scene, transition) for scene, transition in list(self.world.held.items()) if is_own(scene)]
        for scene, (id, token) in self.random.sample(held, min(len(held), 3)):
            threads.append(threading.Thread(
                target=self.ask, args=[owner, "renew", scene, id, {"id": id, "token": token}], daemon=True))
            threads.append(threading.Thread(target=self.ask, args=[owner, "look", scene, id, None], daemon=True))
        scene = self.random.choice([scene for scene in SCENES if is_own(scene)] or SCENES)
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
        self.last(0.3, 2)
        member.start()
        return target

    def etcd_leader_freeze(self) -> str:
        leader = self.cluster.leader()
        leader.signal(signal.SIGSTOP)
        try:
            # Mostly longer than the lease and an election.
            seconds = self.last(0.5, self.lease + 3)
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
            seconds = self.last(self.lease + 0.3, self.lease + 2)
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
        seconds = self.healed_after(0.5, self.lease + 2)
        return f"{target} → {'all of etcd' if len(members) > 1 else members[0]} for {seconds:.1f} s"

    def cut_etcd_node(self) -> str:
        node = self.node()
        target = self.role(node)
        members = self.random.choice([[self.random.choice(self.cluster.members)], self.cluster.members])
        for member in members:
            self.cluster.network.cut(member.host, node.host)
        seconds = self.healed_after(0.5, self.lease + 2)
        return f"{'all of etcd' if len(members) > 1 else members[0]} → {target} for {seconds:.1f} s"

    def cut_node_node(self) -> str:
        source = self.node()
        target = self.other(source)
        names = f"{self.role(source)} → {self.role(target)}"
        port = self.random.choice([None, 7080])
        self.cluster.network.cut(source.host, target.host, port)
        seconds = self.healed_after(0.5, self.lease + 2)
        return f"{names}{' at the peer port' if port else ''} for {seconds:.1f} s"

    def cut_etcd_etcd(self) -> str:
        leader = self.cluster.leader()
        source = self.random.choice([leader, self.random.choice(self.cluster.members)])
        others = [each for each in self.cluster.members if each is not source]
        targets = self.random.choice([others, others, [self.random.choice(others)]])
        for target in targets:
            self.cluster.network.cut(source.host, target.host)
        seconds = self.healed_after(0.5, self.lease + 3)
        role = " (leader)" if source is leader else ""
        return f"{source}{role} → {' and '.join(map(str, targets))} for {seconds:.1f} s"

    def relay_vanish(self) -> str:
        relay = self.node()
        target = self.role(relay)
        self.cluster.network.silence(relay.host)
        dies = self.random.random() < 0.5
        try:
            if dies:
                relay.kill()
            seconds = self.last(0.5, self.lease + 2)
        finally:
            self.cluster.network.heal()
        if dies:
            relay.start()
        return f"{target}{' and killed' if dies else ''} for {seconds:.1f} s"

    # MARK: - The proxy

    def owner_behind_proxy(self) -> Node:
        """A node that asks etcd through a proxy, and owns shards that clients work with."""
        return self.random.choice([node for node, _ in self.cluster.shared_out().values() if node.proxy])

    def mistreated(self, owner: Node, count: int = 1) -> None:
        for number in range(count):
            try:
                owner.proxy.lines.get(timeout=PATIENCE)
            except queue.Empty:
                raise TooLate(f"the proxy of {owner} has mistreated {number} of {count} transactions") from None

    def delay(self) -> float:
        """How long a transaction is kept: longer than its tenure can last without its node."""
        self._delays += 1
        return 10 if self._delays % 4 == 1 else round(self.lease + self.random.uniform(0.5, 2), 1)

    def proxy_drop(self) -> str:
        owner = self.owner_behind_proxy()
        count = self.random.randint(1, 6)
        owner.proxy.tell(f"drop {count}")
        self.mistreated(owner, count)
        return f"{count} answers to {owner}"

    def proxy_twice(self) -> str:
        owner = self.owner_behind_proxy()
        count = self.random.randint(1, 6)
        owner.proxy.tell(f"twice {count}")
        self.mistreated(owner, count)
        return f"{count} transactions of {owner}"

    def proxy_delay(self) -> str:
        owner, seconds = self.owner_behind_proxy(), self.delay()
        owner.proxy.tell(f"delay {seconds}")
        # It is caught, and passed on.
        self.mistreated(owner, 2)
        return f"a transaction of {owner} for {seconds} s"

    def proxy_delay_kill(self) -> str:
        """A transaction arrives when its node is dead and another one owns the shard, or the same node again."""
        owner, seconds = self.owner_behind_proxy(), self.delay()
        owner.proxy.tell(f"delay {seconds}")
        self.mistreated(owner)
        owner.kill()
        if self.random.random() < 0.7:
            owner.start()
        self.mistreated(owner)
        if not owner.is_running:
            owner.start()
        return f"a transaction of {owner} for {seconds} s, and its node killed"

    # MARK: - Room in etcd

    def etcd_full(self) -> str:
        """etcd refuses every write; the nodes keep what they own, and go on by themselves when there is room."""
        self.cluster.shared_out()
        self.space.fill()
        full = clock()
        tenures = self.cluster.tenures()
        killed = self.random.choice([None, *self.cluster.nodes]) if self.random.random() < 0.5 else None
        if killed:
            killed.kill()
        kept = [node for node in self.cluster.nodes if node is not killed]
        for node in kept:
            # What a killed node owned has no owner, nor has what a lease left that ended while etcd was filled: that comes first.
            # A node that admits nothing new, and has nothing to end, does not hear that etcd refuses.
            wait_for(f"{node} is not ready while etcd is full, or admits nothing",
                     lambda: node.unready() == "journal-unavailable"
                     or (killed or len(tenures) < self.cluster.shards) and node.unready() == "not-owner"
                     or node in self.refusing_for_room(since=full))
        # So long that a lease which is not kept alive ends.
        time.sleep(max(0, full + self.lease + 1 - clock()))
        self.space.take_away()
        self.space.forget()
        self.space.defragment()
        for shard, (node, tenure) in tenures.items():
            if node is not killed and self.cluster.tenures().get(shard) != (node, tenure):
                self.world.violations.append(f"{node} has lost shard {shard} while etcd was full")
        over = clock()
        self.world.violations += admitted_without_room(list(self.world.calls), full, over)
        self.space.disarm()
        if killed:
            killed.start()
        return f"for {over - full:.1f} s{f', and {killed} killed' if killed else ''}"

    def etcd_short(self) -> str:
        """Nearly full: nothing new is admitted, and what is unfinished can end."""
        self.cluster.shared_out()
        self.space.fill_to(85)
        began = clock()

        wait_for("every node says that there is no room",
                 lambda: len(self.refusing_for_room(since=began)) == len(self.cluster.nodes))
        short = clock()
        wait_for("what is unfinished ends", lambda: any(
            call.kind == "end" and call.status == 200 and call.sent > short for call in self.world.calls[-300:]))
        over = clock()
        self.world.violations += admitted_without_room(list(self.world.calls), short, over)
        self.space.take_away()
        self.space.forget()
        return f"for {over - began:.1f} s"

    def refusing_for_room(self, since: float) -> set[Node]:
        """The nodes that have lately refused something for want of room, of what they own themselves.

        A lease that ended while etcd was filled changes whose a shard is.
        """
        owners = {shard: node for shard, (node, _) in self.cluster.tenures().items()}
        calls = [call for call in self.world.calls[-500:] if call.code == "out-of-room" and call.sent > since]
        return {owner for call in calls if (owner := owners.get(shard_of(call.scene, self.cluster.shards)))
                and call.node == str(owner)}

    # MARK: - Versions

    def node_version(self) -> str:
        """A node is started again with a newer version, or with an earlier one where all have the newest."""
        outdated = [node for node in self.cluster.nodes if not node.is_newest]
        node = self.random.choice(outdated or self.cluster.nodes)
        target = self.role(node)
        node.signal(signal.SIGTERM)
        if code := node.process.wait(PATIENCE):
            self.world.violations.append(f"{node} ended with {code} after SIGTERM")
        (earlier, node.version) = (node.version, (node.version + 1) % len(node.versions))
        node.start()
        return f"{target}: version {earlier + 1} to {node.version + 1}"
