"""A client that takes as much as the daemon's default settings let it take."""

import contextlib
import threading
import time
from collections.abc import Callable, Sequence

from measure.victim import named
from measure.wire import Answer, ConnectionEnded, Wire, request

# How long something is built for an attack, at most; what is not there by then is left out.
BUILD_SECONDS = 20
LONGEST_LEASE = 300


class Attacker:
    """One client, with as many connections as it wants."""

    def __init__(self, port: int, scale: float, seconds: float) -> None:
        self.port = port
        # How long it goes on with what it repeats.
        self.seconds = seconds
        # What it has built so far, and how many requests it has sent since then.
        self.built = 0
        self.requests = 0
        self._scale = scale
        self._wires: list[Wire] = []
        self._wire = self.connect()
        self._lock = threading.Lock()

    def close(self) -> None:
        for wire in self._wires:
            wire.close()

    def connect(self, receive_bytes: int | None = None) -> Wire:
        wire = Wire(self.port, receive_bytes)
        self._wires.append(wire)
        return wire

    def count(self, whole: int) -> int:
        """A number of things, which is smaller in a quick run."""
        return max(1, round(whole * self._scale))

    def ask(self, method: str, path: str, body: object = None, fields: dict[str, str] | None = None) -> Answer:
        return self.ask_all([request(method, path, body, fields)])[0]

    def ask_all(self, requests: Sequence[bytes]) -> list[Answer]:
        self.requests += len(requests)
        return self._wire.ask_all(requests)

    def build(self, count: int, requests_for: Callable[[int], list[bytes]], at_once: int = 64) -> list[Answer]:
        """Asks what each of some numbers needs, and returns the answers that are no refusals.

        It ends early when time is up, or at the first refusal: then a limit is reached.
        """
        begun, answers = time.monotonic(), []
        for first in range(0, count, at_once):
            asked = [each for number in range(first, min(count, first + at_once)) for each in requests_for(number)]
            given = self.ask_all(asked)
            answers += [answer for answer in given if answer.status < 300]
            if any(answer.status >= 300 for answer in given) or time.monotonic() - begun > BUILD_SECONDS:
                break
        self.built = len(answers)
        return answers

    def end_all(self, started: Sequence[Answer]) -> None:
        self.ask_all([request("POST", "/transitions/end", named(answer.document)) for answer in started])

    def open_session(self, client: str) -> dict[str, str]:
        """The header field of a session."""
        opened = self.ask("POST", "/sessions", {"client": client, "ttlSeconds": 3600})
        return {"Arbiter-Session": opened.document["token"]}

    def hold(self, scene: str, **fields: object) -> Answer:
        return self.ask("POST", "/transitions/start", {"scene": scene, "leaseSeconds": LONGEST_LEASE, **fields})

    def repeat_on(self, connections: int, step: Callable[[Wire, int], int]) -> None:
        """Repeats something on connections of its own, side by side; a step returns how many requests it has sent.

        A connection that the daemon closes is not opened again.
        """
        end = time.monotonic() + self.seconds

        def run(wire: Wire, number: int) -> None:
            with contextlib.suppress(ConnectionEnded, OSError):
                while time.monotonic() < end:
                    sent = step(wire, number)
                    with self._lock:
                        self.requests += sent

        threads = [threading.Thread(target=run, args=[self.connect(), number]) for number in range(connections)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def start(scene: str, fields: dict[str, str] | None = None, **members: object) -> bytes:
    return request("POST", "/transitions/start", {"scene": scene, "leaseSeconds": LONGEST_LEASE, **members}, fields)


def ticket(scene: str, **members: object) -> bytes:
    return request("POST", "/transitions/serialize", {"scene": scene, "ticketSeconds": 3600, "wait": 0, **members})


def stack(root: str, controllers: Sequence[str]) -> dict:
    return {"id": root, "kind": "navigation", "children": list(controllers)}
