"""What only the daemon is measured for: fairness, parked clients, followed scenes, kills, and memory."""

from pathlib import Path

from measure import latencies
from measure.load import Load
from measure.plan import Plan
from measure.results import Results
from measure.servers import Programs, Server, arbiter

# The default journal.
JOURNAL = "crash"

# What is kept, with the request that makes one; # is its number.
KEPT = {
    "scene": {"method": "PUT", "path": "/scenes/{kind}-#/storyboard", "status": 200,
              "body": '{"root":{"id":"stack","kind":"navigation","children":["list"]}}'},
    "ticket": {"path": "/transitions/serialize", "status": 202, "body": '{"scene":"line","ticketSeconds":3600}'},
    "session": {"path": "/sessions", "status": 201, "body": '{"ttlSeconds":3600}'},
}


def measure_fairness(load: Load, servers: list[Server], plan: Plan, results: Results) -> None:
    """Fails if a grant overtakes another."""
    for _ in range(plan.rounds):
        for server in servers:
            if server.protocol != "arbiter":
                continue
            report = load.run("fairness", server, clients=64, seconds=plan.seconds)
            results.figures.add("fairness-grants", server.name, "grants", report["grants"])
            results.figures.add("fairness-overtaking", server.name, "grants", report["overtaking"])


def measure_parked(load: Load, programs: Programs, directory: Path, plan: Plan, results: Results) -> None:
    for turn in range(plan.rounds):
        print(f"parked: round {turn + 1} of {plan.rounds}", flush=True)
        with arbiter(programs.arbiterd, JOURNAL, directory / f"parked-{turn}") as server:
            report, woken = load.run_with_samples("parked", server, clients=plan.parked, seconds=plan.resting_seconds)
        figures, parked = results.figures, report["parked"]
        figures.add("parked-memory", JOURNAL, "bytes", report["memory_bytes"] / parked)
        figures.add("parked-resting", JOURNAL, "ms", report["resting_processor_seconds"] * 1e3 / plan.resting_seconds)
        figures.add("parked-waking", JOURNAL, "µs", report["waking_processor_seconds"] * 1e6 / parked)
        results.add_percentiles("parked", JOURNAL, woken, "ms")


def measure_streams(load: Load, programs: Programs, directory: Path, plan: Plan, results: Results) -> None:
    """How long a start takes while readers follow its scene, and its event on the way to them."""
    for turn in range(plan.rounds):
        print(f"streams: round {turn + 1} of {plan.rounds}", flush=True)
        with arbiter(programs.arbiterd, JOURNAL, directory / f"streams-{turn}") as server:
            for readers in plan.readers:
                answers = load.directory / "answers"
                _, events = load.run_with_samples("streams", server, clients=readers, count=plan.grants,
                                                  answers=answers)
                results.add_percentiles(f"streams-{readers}-answer", JOURNAL, latencies.read(answers), "ms")
                results.add_percentiles(f"streams-{readers}-event", JOURNAL, events, "ms")
    for name in ("answer", "event"):
        for percentile in ("p50", "p99"):
            results.series[f"{name}, {percentile}"] = [
                (readers, f"streams-{readers}-{name}-{percentile}") for readers in plan.readers]


def measure_kills(load: Load, programs: Programs, directory: Path, plan: Plan, results: Results) -> None:
    with arbiter(programs.arbiterd, JOURNAL, directory / "kills") as server:
        for _ in range(plan.kills):
            _, took = load.run_with_samples("kills", server, count=1)
            results.figures.add("kill", JOURNAL, "ms", took.get_max_value() / 1e6)


def measure_memory(load: Load, programs: Programs, directory: Path, plan: Plan, results: Results) -> None:
    for turn in range(plan.rounds):
        print(f"memory: round {turn + 1} of {plan.rounds}", flush=True)
        for kind in KEPT:
            with arbiter(programs.arbiterd, JOURNAL, directory / f"{kind}-{turn}") as server:
                results.figures.add(f"memory-{kind}", JOURNAL, "bytes", memory_of_one(load, server, kind, plan.kept))


def memory_of_one(load: Load, server: Server, kind: str, count: int) -> float:
    """Resident bytes of one more of a kind, when the daemon has some already."""
    request = dict(KEPT[kind])
    path = request.pop("path")
    if kind == "ticket":
        load.run("repeat", server, count=1, path="/transitions/start", status=201,
                 body='{"scene":"line","leaseSeconds":300}')
    load.run("repeat", server, count=count // 8, path=path.format(kind=f"warm-{kind}"), **request)
    report = load.run("repeat", server, count=count, path=path.format(kind=kind), **request)
    return report["memory_bytes"] / count
