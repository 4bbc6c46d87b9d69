"""Clients that race for locks, at every server in turns, so that conditions are the same for all."""

from dataclasses import dataclass

from hdrh.histogram import HdrHistogram

from measure import latencies
from measure.load import Load, LoadFailed
from measure.plan import Plan
from measure.processes import bytes_written
from measure.results import Results
from measure.servers import Server


@dataclass(frozen=True)
class Race:
    name: str
    clients: int
    # False if each client has a key of its own.
    is_shared: bool


RACES = [Race("own-64", 64, False), Race("own-1", 1, False), Race("shared-2", 2, True), Race("shared-64", 64, True)]

# A cycle is a request for the lock and one for its release.
REQUESTS_PER_CYCLE = 2
WARM_UP_SECONDS = 0.3


def check_the_checker(load: Load, floor: Server) -> None:
    """Makes sure that two holders of one lock are noticed: the C handler grants everything."""
    try:
        load.run("race", floor, clients=2, seconds=5, one_key=True)
    except LoadFailed as failure:
        if "two clients hold" in str(failure):
            return
        raise
    raise LoadFailed("the load generator does not notice that two clients hold one lock")


def measure_races(load: Load, servers: list[Server], plan: Plan, results: Results) -> None:
    for race in RACES:
        racing = [server for server in servers if not (race.is_shared and server.protocol == "floor")]
        for server in racing:
            run_race(load, race, server, WARM_UP_SECONDS)
        for turn in range(plan.rounds):
            print(f"{race.name}: round {turn + 1} of {plan.rounds}", flush=True)
            for server in racing:
                measure_race(load, race, server, plan.seconds, results)


def run_race(load: Load, race: Race, server: Server, seconds: float) -> tuple[dict, HdrHistogram]:
    shared = {"one_key": True} if race.is_shared else {}
    return load.run_with_samples("race", server, clients=race.clients, seconds=seconds, **shared)


def measure_race(load: Load, race: Race, server: Server, seconds: float, results: Results) -> None:
    before = bytes_written(server.pid)
    report, hand_overs = run_race(load, race, server, seconds)
    after = bytes_written(server.pid)
    add_costs(race, server, report, results)
    if race.is_shared:
        add_hand_overs(race, server, report, hand_overs, results)
    elif server.protocol == "arbiter":
        # The other servers write to sockets with the same system calls.
        results.figures.add(f"{race.name}-written", server.name, "bytes", (after - before) / report["cycles"])


def add_costs(race: Race, server: Server, report: dict, results: Results) -> None:
    cycles, seconds = report["cycles"], report["seconds"]
    requests = REQUESTS_PER_CYCLE * cycles
    figures = results.figures
    figures.add(f"{race.name}-rate", server.name, "1/s", cycles / seconds)
    figures.add(f"{race.name}-processor", server.name, "µs", report["processor_seconds"] * 1e6 / requests)
    if race.clients == 1:
        figures.add(f"{race.name}-request", server.name, "µs", seconds * 1e6 / requests)


def add_hand_overs(race: Race, server: Server, report: dict, hand_overs: HdrHistogram, results: Results) -> None:
    figures = results.figures
    figures.add(f"{race.name}-hand-over", server.name, "µs", report["seconds"] * 1e6 / report["cycles"])
    figures.add(f"{race.name}-fewest", server.name, "grants", report["fewest"])
    figures.add(f"{race.name}-most", server.name, "grants", report["most"])
    results.add_percentiles(race.name, server.name, hand_overs)
    all_rounds = results.hand_overs.setdefault(race.name, {})
    all_rounds.setdefault(server.name, latencies.histogram()).add(hand_overs)
