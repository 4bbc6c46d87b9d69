"""Clients that ask for a scene again and again, while its node comes and goes."""

import contextlib
import http.client
import itertools
import json
import threading
import time
import uuid

# Between two requests.
PAUSE_SECONDS = 0.01
# Longer than anything that is expected.
PATIENCE_SECONDS = 60


class UnexpectedAnswer(Exception):
    """What a node answers is neither a grant nor that it should be asked again."""


class Probe:
    """Takes and releases the lock of a scene again and again, as a client does that asks again after an error."""

    def __init__(self, scene: str, port: int) -> None:
        self.scene = scene
        # When each grant was there.
        self.grants: list[float] = []
        self.failure: Exception | None = None
        self._port = port
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Returns when the lock is released."""
        self._stopped.set()
        self._thread.join()

    def longest_gap(self, since: float) -> tuple[float, float]:
        """When the longest time without a grant began and ended, of those that ended after a time."""
        pairs = [(begun, ended) for begun, ended in itertools.pairwise(self.grants) if ended > since]
        return max(pairs, key=lambda pair: pair[1] - pair[0])

    def _run(self) -> None:
        try:
            while not self._stopped.is_set():
                # So that a start that was carried out without an answer is answered when it is asked again.
                key = f'"{uuid.uuid4()}"'
                granted = self._ask("/transitions/start", {"scene": self.scene}, {"Idempotency-Key": key})
                self.grants.append(time.monotonic())
                self._ask("/transitions/end", {"id": granted["id"], "token": granted["token"]}, {})
                self._stopped.wait(PAUSE_SECONDS)
        except Exception as failure:
            self.failure = failure

    def _ask(self, path: str, body: dict, fields: dict[str, str]) -> dict:
        """The answer, when there is one that is no 503."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError, http.client.HTTPException):
                status, text = self._ask_once(path, body, fields)
                if status in (200, 201):
                    return json.loads(text)
                if status != 503:
                    raise UnexpectedAnswer(f"{path} was answered {status}: {text}")
            time.sleep(PAUSE_SECONDS)
        raise UnexpectedAnswer(f"{path} was answered 503 for {PATIENCE_SECONDS} s")

    def _ask_once(self, path: str, body: dict, fields: dict[str, str]) -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=2)
        with contextlib.closing(connection):
            connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json", **fields})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
