"""Usage: python -m measure.victim PORT: a client with scenes of its own, which asks steadily until its input ends.

It keeps a lease by renewing it, and starts and ends transitions. At the end it prints how long each answer took, in
nanoseconds from when the request was due: a request that waits for the answer to the one before it is late, too.
"""

import json
import sys
import threading
import time

from measure.wire import Wire, request

# Between two requests.
PACE_SECONDS = 0.005
LEASE_SECONDS = 10


class Victim:
    def __init__(self, port: int) -> None:
        self._wire = Wire(port)
        self.waits: list[int] = []
        # Requests that were refused, and leases that were lost.
        self.refused = self.lost = 0
        self._due = 0.0
        self._held = self._start("victim-held")

    def close(self) -> None:
        self._wire.close()

    def run(self, stopped: threading.Event) -> None:
        self._due = time.monotonic()
        while not stopped.is_set():
            if self._ask("/transitions/renew", named(self._held)) is None:
                self.lost += 1
                self._held = self._start("victim-held")
            granted = self._ask("/transitions/start", {"scene": "victim"})
            if granted is not None:
                self._ask("/transitions/end", named(granted))

    def _ask(self, path: str, body: dict) -> dict | None:
        self._due += PACE_SECONDS
        time.sleep(max(0.0, self._due - time.monotonic()))
        answer = self._wire.ask(request("POST", path, body))
        self.waits.append(round((time.monotonic() - self._due) * 1e9))
        if answer.status < 300:
            return answer.document
        self.refused += 1
        return None

    def _start(self, scene: str) -> dict:
        """Asks until it is granted, without being measured."""
        body = {"scene": scene, "leaseSeconds": LEASE_SECONDS}
        while (answer := self._wire.ask(request("POST", "/transitions/start", body))).status >= 300:
            time.sleep(PACE_SECONDS)
        return answer.document


def named(transition: dict) -> dict:
    return {"id": transition["id"], "token": transition["token"]}


def main(port: int) -> None:
    victim = Victim(port)
    stopped = threading.Event()
    thread = threading.Thread(target=victim.run, args=[stopped])
    thread.start()
    print("asks", flush=True)
    sys.stdin.read()
    stopped.set()
    thread.join()
    victim.close()
    print(json.dumps({"waits": victim.waits, "refused": victim.refused, "lost": victim.lost}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
