"""How long a scene is without an owner when its node is killed, and when it is stopped."""

import itertools
import signal
import time
from collections.abc import Callable

from measure.nodes import LEASE_SECONDS, Cluster, Node
from measure.plan import ClusterPlan
from measure.probes import PATIENCE_SECONDS, PAUSE_SECONDS, Probe
from measure.processes import end
from measure.results import Results

# How many scenes are asked for meanwhile, each of another shard of the node.
PROBES = 8


def measure_moves(cluster: Cluster, plan: ClusterPlan, results: Results) -> None:
    for name, number in (("kill", signal.SIGKILL), ("drain", signal.SIGTERM)):
        for turn in range(plan.moves):
            print(f"{name}: round {turn + 1} of {plan.moves}", flush=True)
            # Another one each time.
            node = cluster.nodes[turn % len(cluster.nodes)]
            measure_move(cluster, node, name, number, results)
            begun = time.monotonic()
            node.start()
            cluster.wait_until_divided()
            results.figures.add("join", cluster.name, "ms", (time.monotonic() - begun) * 1e3)
    results.figures.add("lease", cluster.name, "ms", LEASE_SECONDS * 1e3)


def measure_move(cluster: Cluster, node: Node, name: str, number: signal.Signals, results: Results) -> None:
    """Sends a node a signal, and asks the others for scenes that it serves, until each has been granted again."""
    shards = sorted(shard for shard, owner in cluster.owners().items() if owner == node.address)
    chosen = shards[::max(1, len(shards) // PROBES)][:PROBES]
    others = [other.port for other in cluster.nodes if other is not node]
    probes = [Probe(cluster.scene_in(shard), port) for shard, port in zip(chosen, itertools.cycle(others))]
    for probe in probes:
        probe.start()
    wait_until(lambda: all(len(probe.grants) > 3 for probe in probes), probes)
    signalled = time.monotonic()
    node.process.send_signal(number)
    node.process.wait(PATIENCE_SECONDS)
    took = time.monotonic() - signalled
    wait_until(lambda: set(cluster.owners()) == set(range(cluster.shards))
               and node.address not in cluster.owners().values(), probes)
    served = time.monotonic()
    wait_until(lambda: all(probe.grants[-1] > served for probe in probes), probes)
    for probe in probes:
        probe.stop()
    end(node.process)
    gaps = [probe.longest_gap(signalled) for probe in probes]
    figures = results.figures
    figures.add(f"{name}-first", cluster.name, "ms", min(ended - signalled for _, ended in gaps) * 1e3)
    figures.add(f"{name}-last", cluster.name, "ms", max(ended - signalled for _, ended in gaps) * 1e3)
    figures.add(f"{name}-gap", cluster.name, "ms", max(ended - begun for begun, ended in gaps) * 1e3)
    figures.add(f"{name}-exit", cluster.name, "ms", took * 1e3)


def wait_until(condition: Callable[[], bool], probes: list[Probe]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        for probe in probes:
            if probe.failure is not None:
                raise probe.failure
        if time.monotonic() > deadline:
            raise TimeoutError("the nodes do not take over")
        time.sleep(PAUSE_SECONDS)
