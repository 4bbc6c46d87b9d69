"""Usage: python -m measure.cluster --arbiterd PATH --tools DIRECTORY --results DIRECTORY [--quick]

Measures nodes on three members of etcd, beside the lock API of the same members.
"""

import contextlib
import json
import signal
import sys
import tempfile
from pathlib import Path

from measure import latencies, machine, moves, table
from measure.arguments import parse_options
from measure.cluster_rows import ROWS, SERVERS
from measure.load import Load
from measure.members import Members, members
from measure.nodes import Cluster, nodes
from measure.plan import ClusterPlan, QUICK_CLUSTER, WHOLE_CLUSTER
from measure.results import Results
from measure.races import Race, WARM_UP_SECONDS, add_hand_overs, run_race
from measure.servers import Programs, Server, ServerMissing

RACES = [Race("own-64", 64, False), Race("own-240", 240, False), Race("shared-2", 2, True), Race("shared-64", 64, True)]

# The clusters that are compared: name, nodes, shards. The moves are those of the last one.
CLUSTERS = [("nodes-1-shards-1", 1, 1), ("nodes-3-shards-3", 3, 3), ("nodes-1", 1, 64), ("nodes-2", 2, 64),
            ("nodes-3", 3, 64)]


def main() -> None:
    # So that servers are ended then, too.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    options = parse_options("measure.cluster", "where load was built", "where table and JSON go")
    plan = QUICK_CLUSTER if options.quick else WHOLE_CLUSTER
    programs = Programs.find(options.arbiterd.resolve(), options.tools.resolve())
    options.results.mkdir(parents=True, exist_ok=True)
    # Beside the results, and not in memory, because etcd waits for the disk.
    with tempfile.TemporaryDirectory(dir=options.results.resolve(), prefix="work-") as directory:
        description = machine.describe(programs, machine.command("cluster-bench", options.quick), Path(directory))
        results = measure(programs, plan, Path(directory))
    report(results, description, options.results)


def measure(programs: Programs, plan: ClusterPlan, directory: Path) -> Results:
    results = Results()
    load = Load(programs.load, directory)
    with contextlib.ExitStack() as stack:
        if programs.etcd is None:
            raise ServerMissing("there is no etcd")
        etcd = stack.enter_context(members(programs.etcd, directory / "etcd"))
        clusters = [stack.enter_context(nodes(programs.arbiterd, name, etcd, directory / name, count, shards))
                    for name, count, shards in CLUSTERS]
        for cluster in clusters:
            cluster.wait_until_divided()
        for race in RACES:
            measure_race(load, race, etcd, clusters, plan, results)
        moves.measure_moves(clusters[-1], plan, results)
    return results


def measure_race(load: Load, race: Race, etcd: Members, clusters: list[Cluster], plan: ClusterPlan,
                 results: Results) -> None:
    """Loads etcd's lock API and every cluster in turns."""
    racing = [etcd.as_server(), *(cluster.as_server() for cluster in clusters)]
    for server in racing:
        run_race(load, race, server, WARM_UP_SECONDS)
    for turn in range(plan.rounds):
        print(f"{race.name}: round {turn + 1} of {plan.rounds}", flush=True)
        for server in racing:
            measure_turn(load, race, server, plan.seconds, etcd, results)


def measure_turn(load: Load, race: Race, server: Server, seconds: float, etcd: Members, results: Results) -> None:
    before, used_before = etcd.commits(), etcd.processor_seconds()
    report, hand_overs = run_race(load, race, server, seconds)
    commits, used = etcd.commits() - before, etcd.processor_seconds() - used_before
    cycles, figures = report["cycles"], results.figures
    figures.add(f"{race.name}-rate", server.name, "1/s", cycles / report["seconds"])
    # What the members take while clients connect belongs to no cycle, but is little.
    figures.add(f"{race.name}-members", server.name, "µs", used * 1e6 / cycles)
    if server.protocol == "arbiter":
        figures.add(f"{race.name}-nodes", server.name, "µs", (report["processor_seconds"] - used) * 1e6 / cycles)
    figures.add(f"{race.name}-commits", server.name, "commits", commits / cycles)
    if race.is_shared:
        add_hand_overs(race, server, report, hand_overs, results)


def report(results: Results, description: dict, directory: Path) -> None:
    """Prints the table, and writes it as Markdown, with all figures as JSON."""
    shown = table.cells(ROWS, SERVERS, results.figures)
    headline = machine.headline(description)
    (directory / "cluster.md").write_text(f"{headline}\n\n{table.as_markdown(shown)}\n")
    whole = {**description, **results.as_json()}
    (directory / "cluster.json").write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n")
    print(f"\n{headline}\n\n{table.as_text(shown)}\n")
    print(f"Medians of {len(results.figures.all()[0].values)} rounds. {results.widest_spread()} "
          f"Table and JSON are in {directory}.")


if __name__ == "__main__":
    main()
