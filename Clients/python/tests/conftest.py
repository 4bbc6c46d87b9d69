"""Starts daemons for what is tested of the Python client alone. What all clients promise is tested in Clients/conformance."""

import sys
from pathlib import Path

import pytest

CLIENTS = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(CLIENTS / "python" / "src"), str(CLIENTS / "conformance")]

from harness import Daemon


@pytest.fixture
def daemon(tmp_path):
    daemons = []

    def make(*options: str) -> Daemon:
        daemons.append(Daemon(tmp_path / f"{len(daemons)}", "--journal", "memory", *options))
        return daemons[-1]

    yield make
    for made in daemons:
        made.kill()
