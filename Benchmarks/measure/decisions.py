"""What the core's decisions cost, by the length of the queue and the size of the tree."""

import json
import subprocess

from hdrh.histogram import HdrHistogram

from measure import latencies
from measure.plan import Plan
from measure.results import Results
from measure.servers import Programs

# Of each decision in a round: more than there are stacks in all but the largest tree, so that most have been visited.
REPETITIONS = 2_000
# The decisions that the table shows, as `cost` calls them, and the beginnings of their measures.
SHOWN = {
    "end, grant, wait anew": "hand-over",
    "wait with a key, and give up": "keyed",
    "end, grant, wait anew, one name": "name",
    "end, grant, wait anew, one name, shared in turns": "shared",
    "end, grant, wait anew, any of ten names": "any",
}


def measure_decisions(programs: Programs, plan: Plan, results: Results) -> None:
    command = [str(programs.cost), str(REPETITIONS)]
    for turn in range(plan.rounds):
        print(f"decisions of the core: round {turn + 1} of {plan.rounds}", flush=True)
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        for line in output.splitlines():
            found = json.loads(line)
            key = (found["decision"], found["waiting"], found["controllers"])
            add_round(key, latencies.histogram(found["nanoseconds"]), results)


def add_round(key: tuple[str, int, int], durations: HdrHistogram, results: Results) -> None:
    results.decisions.setdefault(key, latencies.histogram()).add(durations)
    decision, waiting, controllers = key
    if decision in SHOWN:
        # The core has no journal.
        results.figures.add(f"{SHOWN[decision]}-{waiting}-{controllers}", "memory", "µs",
                            latencies.percentiles(durations)["p50"])
