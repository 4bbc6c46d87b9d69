"""Reads the console sessions of a Markdown page; scripts/readme-test says how they are written."""

import itertools
import re
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Step:
    """A command and what it prints; without a command, what the one before prints later."""

    section: str
    terminal: str
    command: str | None
    line: int
    output: list[str] = field(default_factory=list)
    # Whether it may still be running when it has printed its output.
    stays: bool = False


def read_page(page: Path) -> list[Step]:
    """Finds the steps of a page's console blocks, in their order."""
    steps: list[Step] = []
    section = page.name
    lines = enumerate(page.read_text(encoding="utf-8").splitlines(), start=1)
    for number, line in lines:
        fence = re.match(r"(\s*)(```+|~~~+)\s*(\S*)\s*(.*)$", line)
        if fence:
            indentation, ticks, language, terminal = fence.groups()
            body = list(itertools.takewhile(lambda numbered: not numbered[1].strip().startswith(ticks), lines))
            if language == "console":
                block = [(at, text.removeprefix(indentation)) for at, text in body]
                steps += read_block(block, section, terminal.strip() or "first terminal")
        elif re.match(r"#{1,6} ", line):
            section = line.lstrip("# ").strip()
    find_what_stays(steps)
    return steps


def read_block(lines: list[tuple[int, str]], section: str, terminal: str) -> list[Step]:
    """Splits a block into its steps; output before the first command belongs to a command of an earlier block."""
    steps: list[Step] = []
    for number, line in lines:
        if line.startswith("$ "):
            steps.append(Step(section, terminal, line[2:], number))
        elif line.startswith("> ") and steps and steps[-1].command and not steps[-1].output:
            steps[-1].command += "\n" + line[2:]
        elif steps:
            steps[-1].output.append(line)
        elif line.strip():
            steps.append(Step(section, terminal, None, number, [line]))
    return steps


def find_what_stays(steps: list[Step]) -> None:
    commands: dict[str, str] = {}
    for index, step in enumerate(steps):
        commands[step.terminal] = step.command or commands.get(step.terminal, "")
        later = next((other for other in steps[index + 1 :] if other.terminal == step.terminal), None)
        step.stays = later.command is None if later else is_stream(commands[step.terminal])


def is_stream(command: str) -> bool:
    return "/events" in command
