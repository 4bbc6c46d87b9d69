"""Usage: python -m measure --arbiterd PATH --tools DIRECTORY --results DIRECTORY [--quick]"""

import contextlib
import json
import signal
import sys
import tempfile
from pathlib import Path

from measure import daemon, decisions, machine, others, plots, races, recovery, table, turns
from measure.arguments import parse_options
from measure.load import Load
from measure.plan import QUICK, WHOLE, Plan
from measure.results import Results
from measure.rows import ROWS, SERVERS, is_in_summary
from measure.servers import Programs, start_all


def main() -> None:
    # So that servers are ended then, too.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    options = parse_options("measure", "where floor, load and cost were built", "where table, JSON and plots go")
    plan = QUICK if options.quick else WHOLE
    programs = Programs.find(options.arbiterd.resolve(), options.tools.resolve())
    options.results.mkdir(parents=True, exist_ok=True)
    # Beside the results, and not in memory: where a journal waits for the disk, there has to be one.
    with tempfile.TemporaryDirectory(dir=options.results.resolve(), prefix="work-") as directory:
        description = machine.describe(programs, machine.command("bench", options.quick), Path(directory))
        results = measure(programs, plan, Path(directory))
    report(results, description, options.results)


def measure(programs: Programs, plan: Plan, directory: Path) -> Results:
    results = Results()
    load = Load(programs.load, directory)
    with contextlib.ExitStack() as stack:
        servers = start_all(programs, directory, stack)
        races.check_the_checker(load, servers[0])
        races.measure_races(load, servers, plan, results)
        daemon.measure_fairness(load, servers, plan, results)
    for measurement in (daemon.measure_parked, daemon.measure_streams, daemon.measure_kills, daemon.measure_memory,
                        recovery.measure_recovery):
        measurement(load, programs, directory, plan, results)
    decisions.measure_decisions(programs, plan, results)
    turns.measure_turns(programs, plan, results.figures)
    others.measure_others(programs, directory, plan, results)
    return results


def report(results: Results, description: dict, directory: Path) -> None:
    """Prints the table, and writes it as Markdown, with all figures as JSON and the plots."""
    shown = table.cells(ROWS, SERVERS, results.figures)
    headline = machine.headline(description)
    summary = table.cells([row for row in ROWS if is_in_summary(row)], SERVERS, results.figures)
    (directory / "table.md").write_text(f"{headline}\n\n{table.as_markdown(shown)}\n")
    (directory / "summary.md").write_text(f"{headline}\n\n{table.as_markdown(summary)}\n")
    whole = {**description, **results.as_json()}
    (directory / "results.json").write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n")
    plots.draw_all(results, directory)
    print(f"\n{headline}\n\n{table.as_text(shown)}\n")
    others.report(results, headline, directory)
    print(f"Medians. {results.widest_spread()} Table, JSON and plots are in {directory}.")


if __name__ == "__main__":
    main()
