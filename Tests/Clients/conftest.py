"""Starts the daemon that the tests talk to."""

import os
import re
import subprocess
from collections.abc import Iterator

import pytest
from arbiter_client import Client

# How long a test waits for anything, in seconds.
PATIENCE = 20


@pytest.fixture(scope="session")
def url() -> Iterator[str]:
    daemon = subprocess.Popen(
        [os.environ["ARBITERD"], "--listen", "127.0.0.1:0", "--journal", "memory", "--log-level", "warning"],
        stdout=subprocess.PIPE, text=True)
    try:
        # The daemon prints this line when it can be asked, and nothing if it can't start.
        ready = re.fullmatch(r"arbiterd .* ready on (http:\S+)\n", daemon.stdout.readline())
        assert ready, "the daemon does not get ready"
        yield ready[1]
    finally:
        daemon.terminate()
        assert daemon.wait(PATIENCE) == 0


@pytest.fixture
def client(url: str) -> Iterator[Client]:
    with Client(base_url=url, timeout=PATIENCE, raise_on_unexpected_status=True) as client:
        yield client
