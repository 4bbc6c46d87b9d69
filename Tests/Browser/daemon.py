"""The daemon, and what can be seen of it without a browser."""

import itertools
import json
import os
import re
import signal
import subprocess
import threading
import urllib.request
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Self

# How long a test waits for anything, in seconds.
PATIENCE = 20

# Begins the ids of the requests that no browser sends.
OUTSIDE = "outside-"


class Daemon:
    """A daemon on a port of 127.0.0.1, the system's choice by default."""

    def __init__(self, directory: Path, *options: str, port: int = 0) -> None:
        self._log_path = directory / "arbiterd.log"
        # The complete lines of the log, and what tells that there are more.
        self._log: list[str] = []
        self._logged = threading.Condition()
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
        self._process = subprocess.Popen(
            [os.environ["ARBITERD"], *arguments, *self._options], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        threading.Thread(target=self._read_log, args=[self._process.stderr], daemon=True).start()
        # The daemon prints this line when it can be asked, and nothing if it can't start.
        ready = re.fullmatch(r"arbiterd .* ready on http://127\.0\.0\.1:(\d+)(; .*)?\n", self._process.stdout.readline())
        if not ready:
            self._process.kill()
            self._process.wait()
            self._process.stdout.close()
        assert ready, f"the daemon does not get ready: {self._log_path.read_text()}"
        self.port = int(ready[1])

    def _read_log(self, lines: Iterable[str]) -> None:
        with self._log_path.open("a") as log:
            for line in lines:
                log.write(line)
                log.flush()
                with self._logged:
                    self._log.append(line)
                    self._logged.notify_all()

    def _wait_for_log(self, condition: Callable[[], object], what: str) -> None:
        with self._logged:
            assert self._logged.wait_for(condition, PATIENCE), f"{what} has not happened in {PATIENCE} seconds"

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

    def delete(self, path: str) -> None:
        request = urllib.request.Request(self.url + path, method="DELETE")
        with urllib.request.urlopen(request, timeout=PATIENCE):
            pass

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
        self._wait_for_log(lambda: len(self._browsers_requests()) > self._seen, "a request of the browser")
        return self.requests()

    def wait_for_event(self, name: str, scene: str = "main") -> None:
        """Returns when an event of this name has happened in a scene, from its beginning on."""
        request = urllib.request.Request(f"{self.url}/scenes/{scene}/events?since=0")
        with urllib.request.urlopen(request, timeout=PATIENCE) as stream:
            assert any(line == f"event: {name}\n".encode() for line in stream), f"{name} has not happened"

    def _all_requests(self) -> list[str]:
        # Lines are written soon, and in their order: behind what was asked before there is one of our own.
        self.ask("GET", "/livez")
        mark = self._last_request_id
        self._wait_for_log(lambda: any(entry.get("request") == mark for entry in self._log_entries()), "a line of the log")
        return self._browsers_requests()

    def _browsers_requests(self) -> list[str]:
        requests = [
            entry["message"] for entry in self._log_entries()
            if "request" in entry and not entry["request"].startswith(OUTSIDE)]
        # The browser looks for an icon wherever a person is shown something.
        return [request for request in requests if "/favicon.ico" not in request]

    def _log_entries(self) -> list[dict]:
        with self._logged:
            return [json.loads(line) for line in self._log]
