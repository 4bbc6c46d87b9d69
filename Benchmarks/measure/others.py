"""Usage: python -m measure.others --arbiterd PATH --tools DIRECTORY --results DIRECTORY [--quick]

Measures what one client costs the others: how long the answers of a client take that asks at a steady pace, while
another one attacks. Each attack has a daemon of its own, with its default settings. Knows nothing of the daemon but its
calls, so that daemons of several versions can be compared.
"""

import json
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import latencies, machine, turns
from measure.arguments import parse_options
from measure.attacker import Attacker
from measure.attacks import ATTACKS, Attack
from measure.figures import Figures
from measure.other_rows import as_markdown, as_text, cells
from measure.plan import QUICK, WHOLE, Plan
from measure.processes import end, memory_peak
from measure.results import Results
from measure.servers import Programs, arbiter
from measure.wire import PATIENCE_SECONDS

# The default journal.
JOURNAL = "crash"


def measure_others(programs: Programs, directory: Path, plan: Plan, results: Results) -> None:
    for attack in ATTACKS:
        print(f"what one client costs the others: {attack.name}", flush=True)
        with arbiter(programs.arbiterd, JOURNAL, directory / attack.name) as server:
            measure_attack(attack, server.port, plan, results.figures)
            results.figures.add("others-memory", attack.name, "MB", memory_peak(server.pid) / 1e6)


def measure_attack(attack: Attack, port: int, plan: Plan, figures: Figures) -> None:
    attacker = Attacker(port, plan.attack_scale, plan.attack_seconds)
    victim = None
    try:
        strike = attack.strike(attacker)
        next(strike)
        figures.add("others-built", attack.name, "count", attacker.built)
        victim = start_victim(port)
        attacker.requests = 0
        next(strike, None)
        heard, _ = victim.communicate(timeout=PATIENCE_SECONDS)
        add_waits(json.loads(heard), attack.name, figures)
        figures.add("others-requests", attack.name, "count", attacker.requests)
    finally:
        if victim is not None:
            end(victim)
        attacker.close()


def start_victim(port: int) -> subprocess.Popen:
    """A process of its own, so that it waits for nothing but the daemon."""
    victim = subprocess.Popen([sys.executable, "-m", "measure.victim", str(port)],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    victim.stdout.readline()
    return victim


def add_waits(heard: dict, name: str, figures: Figures) -> None:
    waits = latencies.histogram(max(1, wait) for wait in heard["waits"])
    found = latencies.percentiles(waits, "ms")
    for percentile in ("p50", "p99.9"):
        figures.add(f"others-{percentile}", name, "ms", found[percentile])
    figures.add("others-longest", name, "ms", waits.get_max_value() / 1e6)
    for measure in ("refused", "lost"):
        figures.add(f"others-{measure}", name, "count", heard[measure])


def main() -> None:
    # So that servers are ended then, too.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    options = parse_options("measure.others", "where cost was built", "where table and JSON go")
    plan = QUICK if options.quick else WHOLE
    programs = Programs.find(options.arbiterd.resolve(), options.tools.resolve())
    options.results.mkdir(parents=True, exist_ok=True)
    results = Results()
    with tempfile.TemporaryDirectory(dir=options.results.resolve(), prefix="work-") as directory:
        description = machine.describe(programs, machine.command("others-bench", options.quick), Path(directory))
        turns.measure_turns(programs, plan, results.figures)
        measure_others(programs, Path(directory), plan, results)
    report(results, machine.headline(description), options.results)
    whole = {**description, **results.as_json()}
    (options.results / "others.json").write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n")


def report(results: Results, headline: str, directory: Path) -> None:
    """Prints both tables, and writes them as Markdown."""
    waits, longest = cells(results.figures), turns.cells(results.figures)
    (directory / "others.md").write_text(
        f"{headline}\n\n{as_markdown(waits)}\n\n{turns.as_markdown(longest)}\n")
    print(f"{as_text(waits)}\n\n{turns.as_text(longest)}\n")


if __name__ == "__main__":
    main()
