"""After a busy run, no secret that was issued is anywhere but in the answer that issued it."""

import os
import subprocess
import threading
from pathlib import Path

from conftest import Daemon, ask


def arbiterd(*arguments: object) -> str:
    done = subprocess.run([os.environ["ARBITERD"], *map(str, arguments)], capture_output=True, text=True, check=True)
    return done.stdout


def test_no_secret_is_told_twice(tmp_path: Path):
    access = tmp_path / "access.yaml"
    bearer = {
        name: arbiterd("access", "new", name, "--role", "observe", "--role", "transition", "--role", "design", "--role",
                       "admin", "--scene", "*", "--access", access).strip()
        for name in ("a", "b", "c", "d")}
    for format in ("text", "json"):
        secrets, told = busy_run(tmp_path / format, access, bearer, format)
        assert len(secrets) > 300
        for place, text in told.items():
            assert text, place
            for secret in secrets | set(bearer.values()):
                assert secret not in text, place


def busy_run(directory: Path, access: Path, bearer: dict[str, str], format: str) -> tuple[set[str], dict[str, str]]:
    directory.mkdir()
    daemon = Daemon(directory, "--access", str(access), "--log-level", "trace", "--log-format", format)
    secrets: set[str] = set()
    # Each with what was sent, which a refusal may repeat.
    refusals: list[tuple[str, str]] = []
    headers = {name: {"Authorization": f"Bearer {secret}"} for name, secret in bearer.items()}
    events = daemon.follow("/events", headers["a"])

    def client(name: str) -> None:
        connection = daemon.connect()

        def say(method: str, path: str, body: object = None, more: dict | None = None) -> dict:
            status, answer = ask(connection, method, path, body, headers[name] | (more or {}))
            issued = answer.get("token") if isinstance(answer, dict) else None
            if issued:
                secrets.add(issued)
            if status >= 400:
                refusals.append((str(answer), path + str(body)))
            return answer

        for number in range(60):
            session = say("POST", "/sessions", {"client": name})
            own = {"Arbiter-Session": session["token"], "Idempotency-Key": f"{name}-{number:020}"}
            started = say("POST", "/transitions/serialize", {"scene": "main", "ticketSeconds": 600}, own)
            acting = {"id": started["id"], "token": started["token"]}
            say("POST", "/transitions/renew", acting)
            # Secrets in every wrong place.
            say("GET", f"/transitions/{started['token']}")
            say("GET", f"/scenes/{session['token']}")
            say("GET", f"/transitions?client={bearer[name]}&nonsense={started['token']}")
            say("POST", "/transitions/end", {"id": started["token"], "token": started["id"]})
            say("POST", "/transitions/end", {started["token"]: 1})
            say("POST", "/transitions/end", acting | {"token": session["token"]})
            say("POST", "/sessions/renew", None, {"Arbiter-Session": started["token"]})
            say("PATCH", f"/{bearer[name]}")
            if number % 3 == 0:
                say("POST", "/transitions/revoke", {"id": started["id"], "reason": "over"})
            say("POST", "/transitions/end", acting)
            say("POST", "/sessions/end", None, {"Arbiter-Session": session["token"]})
        connection.close()

    clients = [threading.Thread(target=client, args=[name]) for name in bearer]
    for each in clients:
        each.start()
    for each in clients:
        each.join()
    shown = {
        path: str(daemon.ask("GET", path, headers=headers["a"])[1])
        for path in ("/transitions?limit=1000", "/scenes", "/scenes/main", "/metrics")}
    events.next("session.ended")
    data = directory / "data"
    shown["settings"] = arbiterd("config", "show", "--access", access)
    shown["access list"] = arbiterd("access", "list", "--access", access)
    daemon.stop()
    shown["export"] = arbiterd("journal", "export", "--data", data)
    shown["inspect"] = arbiterd("journal", "inspect", "--data", data)
    for answer, sent in refusals:
        assert not any(secret in answer and secret not in sent for secret in secrets | set(bearer.values())), answer
    return secrets, shown | {"log": daemon.log.all(), "events": events.all(), "access file": access.read_text()}
