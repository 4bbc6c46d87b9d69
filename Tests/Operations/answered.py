"""What clients were told, and whether a daemon still knows it."""

import contextlib
import http.client
import itertools
from collections.abc import Iterator

from conftest import Daemon, ask
from waiting import polled


class Answered:
    """Clients that start transitions and end some of them, and what they were answered."""

    def __init__(self) -> None:
        self._lives = itertools.count()
        self.held: dict[str, str] = {}
        self.ended: set[str] = set()
        # Whether these have ended, nobody was told.
        self._unclear: set[str] = set()
        self.fences: list[int] = []

    def clients(self, running: Daemon, count: int = 4) -> list[Iterator[None]]:
        """Generators for `Load`, each a client with a connection of its own.

        While requests are answered 503 they wait; they end with the daemon.
        """
        life = next(self._lives)
        return [self._work(running, f"{life}-{index}") for index in range(count)]

    def _work(self, running: Daemon, name: str) -> Iterator[None]:
        with contextlib.closing(running.connect()) as connection, contextlib.suppress(OSError, http.client.HTTPException):
            for number in itertools.count():
                started = self.start(running, f"{name}-{number}", connection)
                if started is None:
                    yield
                    polled(lambda: ask(connection, "GET", "/readyz")[0] == 200)
                elif number % 3:
                    self.end(running, started["id"], connection)
                yield

    def start(self, running: Daemon, scene: str, connection: http.client.HTTPConnection | None = None) -> dict | None:
        """Starts a transition; `None` if the journal is unavailable, and it may have been started or not."""
        body = {"scene": scene, "leaseSeconds": 300}
        status, answer = ask(connection, "POST", "/transitions/start", body) if connection else running.ask(
            "POST", "/transitions/start", body)
        assert status in (201, 503), answer
        if status == 503:
            assert answer["code"] == "journal-unavailable", answer
            return None
        self.held[answer["id"]] = answer["token"]
        self.fences.append(answer["fence"])
        return answer

    def end(self, running: Daemon, id: str, connection: http.client.HTTPConnection | None = None) -> None:
        token = self.held.pop(id)
        self._unclear.add(id)
        body = {"id": id, "token": token}
        status, answer = ask(connection, "POST", "/transitions/end", body) if connection else running.ask(
            "POST", "/transitions/end", body)
        assert status in (200, 503), answer
        if status == 200:
            self._unclear.discard(id)
            self.ended.add(id)

    def missing(self, running: Daemon) -> list[str]:
        """What the daemon does not know any more."""
        with contextlib.closing(running.connect()) as connection:
            shown = {id: ask(connection, "GET", f"/transitions/{id}") for id in [*self.held, *self.ended, *self._unclear]}
            wrong = [id for id in self._unclear if shown[id][0] != 200]
            wrong += [id for id in self.ended if shown[id][0] != 200 or shown[id][1]["state"] != "ended"]
            for id, token in self.held.items():
                renewed = ask(connection, "POST", "/transitions/renew", {"id": id, "token": token})
                if shown[id][0] != 200 or shown[id][1]["state"] != "running" or renewed[0] != 200:
                    wrong.append(id)
        return wrong

    def forget(self, ids: list[str]) -> None:
        """Expects no longer that a daemon knows these."""
        for id in ids:
            self.held.pop(id, None)
            self.ended.discard(id)
            self._unclear.discard(id)

    def expect_all(self, running: Daemon) -> None:
        """Checks that a daemon knows everything, and that its next fence is higher than those of before."""
        assert self.missing(running) == []
        highest = max(self.fences)
        granted = self.start(running, f"next-{len(self.fences)}")
        assert granted is not None
        assert granted["fence"] > highest
