"""The daemon, and what can be seen of it without a browser."""

import itertools
import json
import os
import re
import signal
import subprocess
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Self

# How long a test waits for anything, in seconds.
PATIENCE = 20

# Begins the ids of the requests that no browser sends.
OUTSIDE = "outside-"


def wait_until(condition: Callable[[], object], what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"{what} has not happened in {PATIENCE} seconds"
        time.sleep(0.01)


class Daemon:
    """A daemon on a port of 127.0.0.1, the system's choice by default."""

    def __init__(self, directory: Path, *options: str, port: int = 0) -> None:
        self._log_path = directory / "arbiterd.log"
        self._options = options
        self._numbers = itertools.count(1)
        # How many requests of browsers a test knows of.
        self._seen = 0
        self.port = port
        self._start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Ends it; a daemon that does not end by itself is a failure."""
        self._process.terminate()
        try:
            status = self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise
        finally:
            self._process.stdout.close()
        assert status == 0

    def _start(self) -> None:
        arguments = ["--listen", f"127.0.0.1:{self.port}", "--log-level", "debug", "--log-format", "json"]
        if "--data" not in self._options:
            arguments += ["--journal", "memory"]
        with self._log_path.open("ab") as log:
            self._process = subprocess.Popen(
                [os.environ["ARBITERD"], *arguments, *self._options], stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=log, text=True)
        # The daemon prints this line when it can be asked, and nothing if it can't start.
        ready = re.fullmatch(r"arbiterd .* ready on http://127\.0\.0\.1:(\d+)\n", self._process.stdout.readline())
        if not ready:
            self._process.kill()
            self._process.wait()
            self._process.stdout.close()
        assert ready, f"the daemon does not get ready: {self._log_path.read_text()}"
        self.port = int(ready[1])

    def kill_and_start_again(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.wait(PATIENCE)
        self._process.stdout.close()
        self._start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def ask(self, method: str, path: str, body: object = None) -> dict:
        """Asks without a browser; anything but success is a failure."""
        self._last_request_id = f"{OUTSIDE}{next(self._numbers)}"
        headers = {"X-Request-Id": self._last_request_id}
        if body is not None:
            headers |= {"Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=PATIENCE) as response:
            return json.load(response)

    def transitions(self) -> list[dict]:
        return self.ask("GET", "/transitions")["transitions"]

    def state(self) -> object:
        """Everything that a request may change, but for what passes by itself."""
        transitions = self.transitions()
        for transition in transitions:
            for name in ["leaseRemaining", "ticketRemaining", "queueRemaining", "readyRemaining"]:
                transition.pop(name, None)
        scenes = [scene["name"] for scene in self.ask("GET", "/scenes")["scenes"]]
        return transitions, [self.ask("GET", f"/scenes/{scene}")["revision"] for scene in scenes]

    def requests(self) -> list[str]:
        """What browsers have asked for since this was last called, with the status of the answer: `GET /scenes 200`."""
        requests = self._all_requests()
        new = requests[self._seen:]
        self._seen = len(requests)
        return new

    def wait_for_request(self) -> list[str]:
        """What browsers have asked for since then, once that is anything."""
        wait_until(lambda: len(self._all_requests()) > self._seen, "a request of the browser")
        return self.requests()

    def _all_requests(self) -> list[str]:
        # Lines are written soon, and in their order: behind what was asked before there is one of our own.
        self.ask("GET", "/livez")
        mark = self._last_request_id
        wait_until(lambda: any(entry.get("request") == mark for entry in self._log_entries()), "a line of the log")
        entries = self._log_entries()
        requests = [
            entry["message"] for entry in entries
            if "request" in entry and not entry["request"].startswith(OUTSIDE)]
        # The browser looks for an icon wherever a person is shown something.
        return [request for request in requests if "/favicon.ico" not in request]

    def _log_entries(self) -> list[dict]:
        lines = self._log_path.read_text().splitlines(keepends=True)
        return [json.loads(line) for line in lines if line.endswith("\n")]
