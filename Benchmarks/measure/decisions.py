"""What the core's decisions cost, by the length of the queue and the size of the tree."""

import json
import subprocess

from measure import latencies
from measure.results import Results
from measure.servers import Programs

# Of each decision: more than there are stacks in all but the largest tree, so that most are not visited first.
REPETITIONS = 2_000


def measure_decisions(programs: Programs, results: Results) -> None:
    print("decisions of the core", flush=True)
    command = [str(programs.cost), str(REPETITIONS)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for line in output.splitlines():
        found = json.loads(line)
        key = (found["decision"], found["waiting"], found["controllers"])
        results.decisions[key] = latencies.histogram(found["nanoseconds"])
