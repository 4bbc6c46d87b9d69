"""Plays the examples as a person would who starts them in a terminal, and reads what they say."""

import os
import pty
import re
import select
import signal
import subprocess
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple, Self

import pytest
from playwright.sync_api import Browser, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
# How long a test waits for anything, in seconds: far longer than a play takes.
PATIENCE = 90


def has_ended(process: int) -> bool:
    """Whether a process ends before long."""
    try:
        descriptor = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], PATIENCE)[0])
    finally:
        os.close(descriptor)


class Line(NamedTuple):
    """What a process says: its name, what it does, and more about it."""

    name: str
    word: str
    rest: str

    @classmethod
    def of(cls, text: str) -> Self:
        name, word, rest = (text.split(maxsplit=2) + ["", "", ""])[:3]
        return cls(name, word, rest)


class Play:
    """A play that goes on: a process and all that it starts, which have a mark in their environment."""

    def __init__(self, name: str, directory: Path, terminal: int | None = None) -> None:
        self._mark = f"ARBITER_EXAMPLES_TEST={uuid.uuid4()}"
        self.process = subprocess.Popen(
            [ROOT / "Examples" / name / "run"], cwd=directory, env=os.environ | dict([self._mark.split("=")]), text=True,
            stdin=subprocess.DEVNULL if terminal is None else terminal,
            stdout=subprocess.PIPE if terminal is None else terminal, stderr=subprocess.STDOUT,
            # A terminal of its own, so that Ctrl-C there means this play.
            preexec_fn=None if terminal is None else lambda: os.login_tty(terminal))
        if terminal is not None:
            os.close(terminal)

    def processes(self) -> list[int]:
        """What still runs of it."""
        def is_of_it(process: Path) -> bool:
            try:
                return self._mark.encode() in (process / "environ").read_bytes().split(b"\0")
            except OSError:
                return False
        return [int(process.name) for process in Path("/proc").iterdir() if process.name.isdigit() and is_of_it(process)]

    def wait(self) -> int:
        """Its exit code; it must leave nothing behind."""
        code = self.process.wait(PATIENCE)
        assert all(has_ended(process) for process in self.processes())
        assert self.processes() == []
        return code

    def kill(self) -> None:
        for process in self.processes():
            os.kill(process, signal.SIGKILL)


@pytest.fixture
def begin(tmp_path: Path) -> Iterator[Callable[..., Play]]:
    """Begins plays, from another folder than that of the package."""
    plays: list[Play] = []

    def begin(name: str, terminal: int | None = None) -> Play:
        plays.append(Play(name, tmp_path, terminal))
        return plays[-1]

    yield begin
    for play in plays:
        play.kill()


@pytest.fixture
def play(begin: Callable[..., Play]) -> Callable[[str], list[str]]:
    """Plays an example to its end: the lines that it writes."""
    def play(name: str) -> list[str]:
        playing = begin(name)
        text, _ = playing.process.communicate(timeout=PATIENCE)
        assert playing.wait() == 0, text
        assert "\x1b" not in text
        return text.splitlines()

    return play


class Terminal:
    """A terminal, with somebody who reads and types there."""

    def __init__(self) -> None:
        self._master, self.slave = pty.openpty()
        self.text = ""

    def close(self) -> None:
        os.close(self._master)

    def read(self) -> bool:
        """Reads what comes; whether anything can still come."""
        assert select.select([self._master], [], [], PATIENCE)[0], self.text
        try:
            self.text += os.read(self._master, 65536).decode()
        except OSError:
            return False
        return True

    def read_until(self, pattern: str) -> None:
        while not re.search(pattern, self.text):
            assert self.read(), self.text

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    terminal = Terminal()
    yield terminal
    terminal.close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    # Nothing leaves the machine.
    rules = "MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=os.environ["CHROMIUM"],
            args=["--no-sandbox", "--disable-gpu", f"--host-resolver-rules={rules}"])
        yield browser
        browser.close()
