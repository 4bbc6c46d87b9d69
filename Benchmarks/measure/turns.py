"""The longest turn of the core that one client can cause, of each kind of work; a turn holds the lock of the engine."""

import json
import subprocess

from measure import table
from measure.figures import Figures
from measure.plan import Plan
from measure.servers import Programs

MEASURE = "longest-turn"


def measure_turns(programs: Programs, plan: Plan, figures: Figures) -> None:
    for turn in range(plan.rounds):
        print(f"longest turns of the core: round {turn + 1} of {plan.rounds}", flush=True)
        output = subprocess.run([str(programs.cost), "turns"], check=True, capture_output=True, text=True).stdout
        for line in output.splitlines():
            add_turn(json.loads(line), figures)


def add_turn(found: dict, figures: Figures) -> None:
    figures.add(MEASURE, found["turn"], "ms", found["nanoseconds"] / 1e6)


def cells(figures: Figures) -> table.Cells:
    """The table, its header first, in the order in which they were measured."""
    found = [figure for figure in figures.all() if figure.measure == MEASURE]
    return [["the longest turn of", "ms"],
            *([figure.server, table.format_number(figure.median)] for figure in found)]


def as_text(shown: table.Cells) -> str:
    return table.as_text(shown, texts=1)


def as_markdown(shown: table.Cells) -> str:
    return f"The longest turns of the core, with what the default limits allow:\n\n{table.as_markdown(shown, texts=1)}"
