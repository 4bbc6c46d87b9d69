"""Usage: python -m measure --arbiterd PATH --tools DIRECTORY --results DIRECTORY [--quick]"""

import argparse
import contextlib
import json
import os
import signal
import sys
import tempfile
from pathlib import Path

from measure import daemon, decisions, machine, plots, races, recovery, table
from measure.load import Load
from measure.plan import QUICK, WHOLE, Plan
from measure.results import Results
from measure.rows import ROWS, SERVERS, is_in_summary
from measure.servers import Programs, start_all


def main() -> None:
    # So that servers are ended then, too.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    options = parse_options()
    plan = QUICK if options.quick else WHOLE
    programs = Programs.find(options.arbiterd.resolve(), options.tools.resolve())
    options.results.mkdir(parents=True, exist_ok=True)
    # Beside the results, and not in memory: where a journal waits for the disk, there has to be one.
    with tempfile.TemporaryDirectory(dir=options.results.resolve(), prefix="work-") as directory:
        description = machine.describe(programs, command(options.quick), Path(directory))
        results = measure(programs, plan, Path(directory))
    report(results, description, options.results)


def command(is_quick: bool) -> str:
    """What to type to repeat this run; a daemon that was built elsewhere is mentioned, but not its place."""
    another_daemon = "ARBITERD=… " if "ARBITERD" in os.environ else ""
    return f"{'QUICK=1 ' if is_quick else ''}{another_daemon}make bench"


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="measure")
    parser.add_argument("--arbiterd", type=Path, required=True)
    parser.add_argument("--tools", type=Path, required=True, help="where floor, load and cost were built")
    parser.add_argument("--results", type=Path, required=True, help="where table, JSON and plots go")
    parser.add_argument("--quick", action="store_true")
    return parser.parse_args()


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
    widest = results.figures.widest_spread()
    print(f"Medians. The widest spread: {widest.measure} at {widest.server}, {min(widest.values):.4g} to "
          f"{max(widest.values):.4g} {widest.unit}. Table, JSON and plots are in {directory}.")


if __name__ == "__main__":
    main()
