"""How long the daemon takes to start with journals of growing length, after it was killed."""

import os
import re
import signal
import subprocess
import time
from pathlib import Path

from measure.load import Load
from measure.plan import Plan
from measure.processes import port_of_ready_line, running
from measure.results import Results
from measure.servers import Programs, arbiter, arbiter_command

JOURNAL = "crash"


def measure_recovery(load: Load, programs: Programs, directory: Path, plan: Plan, results: Results) -> None:
    points = [(0, "recovery-0")]
    for turn in range(plan.rounds):
        add_start(programs, directory / f"empty-{turn}", "recovery-0", results)
    for cycles in plan.journal_cycles:
        journal = directory / f"journal-{cycles}"
        write_journal(load, programs, journal, cycles)
        records = count_records(programs.arbiterd, journal)
        print(f"recovery: {records} records", flush=True)
        measure = f"recovery-{cycles}-cycles"
        for _ in range(plan.rounds):
            add_start(programs, journal, measure, results)
        points.append((records, measure))
    results.series["recovery"] = points
    add_longest(points[-1], results)


def write_journal(load: Load, programs: Programs, directory: Path, cycles: int) -> None:
    with arbiter(programs.arbiterd, JOURNAL, directory) as server:
        load.run("race", server, clients=10, count=cycles, seconds=300)
        # So that the journal is not closed.
        os.kill(server.pid, signal.SIGKILL)


def count_records(arbiterd: Path, directory: Path) -> int:
    summary = subprocess.run([str(arbiterd), "journal", "inspect", "--data", f"{directory}/data"], check=True,
                             capture_output=True, text=True).stdout
    return int(re.search(r"^records\s+(\d+)", summary, re.MULTILINE).group(1))


def add_start(programs: Programs, directory: Path, measure: str, results: Results) -> None:
    """Measures one start, from the call of the program to its ready line."""
    directory.mkdir(exist_ok=True)
    log = directory / "log"
    begun = time.monotonic()
    with running(arbiter_command(programs.arbiterd, JOURNAL, directory), log) as process:
        port_of_ready_line(process, log)
        results.figures.add(measure, JOURNAL, "ms", (time.monotonic() - begun) * 1e3)
        process.send_signal(signal.SIGKILL)


def add_longest(point: tuple[int, str], results: Results) -> None:
    records, measure = point
    for value in results.figures.get(measure, JOURNAL).values:
        results.figures.add("recovery-longest", JOURNAL, "ms", value)
    results.figures.add("recovery-records", JOURNAL, "records", records)
