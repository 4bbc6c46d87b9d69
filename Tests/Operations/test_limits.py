"""Clients that ask for too much, or too slowly."""

import os
import socket
import subprocess

import pytest
from conftest import ask, plain_socket
from memory import peak
from waiting import PATIENCE, polled


pytestmark = pytest.mark.usefixtures("as_many_files_as_allowed")


def counted(daemon, name: str, connection=None) -> float:
    answer = ask(connection, "GET", "/metrics") if connection else daemon.ask("GET", "/metrics")
    lines = answer[1].splitlines()
    return next(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(name + " "))


def is_closed(client: socket.socket) -> bool:
    client.settimeout(PATIENCE)
    try:
        return client.recv(1) == b""
    except ConnectionResetError:
        return True


def test_a_slow_head_and_a_slow_body_lose_their_connections_and_starve_nobody(daemon):
    running = daemon("--head-seconds", "1", "--body-seconds", "2")
    slow = [plain_socket(running.port) for _ in range(500)]
    for number, client in enumerate(slow):
        head = b"POST /transitions/start HTTP/1.1\r\nHost: localhost\r\n"
        whole = head + b"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"
        client.sendall(head if number % 2 else whole)
    for _ in range(50):
        assert running.ask("GET", "/livez")[0] == 200
    for client in slow:
        assert is_closed(client)
        client.close()
    assert counted(running, 'arbiter_connections_closed_total{reason="slow"}') == 500


def test_one_client_has_so_many_connections_and_no_more(daemon):
    running = daemon("--max-connections-per-client", "5")
    kept = [running.connect() for _ in range(4)]
    for connection in kept:
        assert ask(connection, "GET", "/livez")[0] == 200
    last = plain_socket(running.port)
    extra = plain_socket(running.port)
    assert is_closed(extra)
    last.close()
    for connection in kept:
        assert ask(connection, "GET", "/livez")[0] == 200
    assert counted(running, 'arbiter_connections_closed_total{reason="client"}', kept[0]) >= 1
    assert polled(lambda: not is_refused(running))


def is_refused(running) -> bool:
    try:
        return running.ask("GET", "/livez")[0] != 200
    except OSError:
        return True


def test_a_client_that_asks_too_often_is_told_when_to_ask_again(daemon):
    running = daemon("--max-requests-per-second", "20")
    connection = running.connect()
    statuses = []
    # Faster than 20 a second, on any machine that can run the tests.
    while 429 not in statuses:
        connection.request("GET", "/transitions")
        response = connection.getresponse()
        response.read()
        statuses.append(response.status)
        assert len(statuses) < 10_000
    assert len(statuses) > 20
    assert int(response.getheader("Retry-After")) >= 1
    assert ask(connection, "GET", "/livez")[0] == 200
    assert polled(lambda: ask(connection, "GET", "/transitions")[0] == 200)


def test_a_principal_has_so_many_transitions_and_sessions(daemon, tmp_path):
    access = tmp_path / "access.yaml"
    secrets = {}

    for name in ("greedy", "modest"):
        made = subprocess.run(
            [os.environ["ARBITERD"], "access", "new", name, "--role", "observe", "--role", "transition", "--scene", "*",
             "--access", str(access)], capture_output=True, text=True, check=True)
        secrets[name] = {"Authorization": f"Bearer {made.stdout.strip()}"}
    options = ["--max-transitions-per-principal", "3", "--max-sessions-per-principal", "2", "--access", str(access)]
    running = daemon(*options)

    def queue(name: str) -> tuple[int, object]:
        return running.ask("POST", "/transitions/serialize", {"ticketSeconds": 600}, secrets[name])

    assert [queue("greedy")[0] for _ in range(3)] == [201, 202, 202]
    status, problem = queue("greedy")
    assert (status, problem["code"]) == (429, "too-many-transitions")
    assert queue("modest")[0] == 202
    assert [running.ask("POST", "/sessions", {}, secrets["greedy"])[0] for _ in range(3)] == [201, 201, 429]
    assert running.ask("POST", "/sessions", {}, secrets["modest"])[0] == 201
    # What was admitted is there after a restart with lower limits.
    running.kill()
    running._options = ["--max-transitions-per-principal", "1", "--max-transitions", "2", "--access", str(access)]
    running.start()
    assert len(running.ask("GET", "/transitions", headers=secrets["greedy"])[1]["transitions"]) == 4
    assert queue("modest")[0] == 429


def test_ten_megabytes_are_refused_and_the_connection_is_answered(daemon):
    running = daemon()
    for path in ("/transitions/start", "/scenes/main/storyboard"):
        client = plain_socket(running.port)
        method = "PUT" if "scenes" in path else "POST"
        client.sendall(f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                       f"Content-Length: 10000000\r\n\r\n".encode())
        answer = client.recv(4096)
        assert b" 413 " in answer
        client.close()


def test_a_half_closed_socket_is_answered_and_gone(daemon):
    running = daemon()
    client = plain_socket(running.port)
    client.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
    client.shutdown(socket.SHUT_WR)
    client.settimeout(PATIENCE)
    answer = b""
    while part := client.recv(4096):
        answer += part
    assert b" 200 " in answer
    client.close()
    assert polled(lambda: counted(running, "arbiter_connections") == 1)


def test_ten_thousand_connections_are_served(daemon):
    running = daemon("--threads", "2")
    clients: list[socket.socket] = []
    try:
        for _ in range(10_000):
            clients.append(plain_socket(running.port))
            clients[-1].sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
        for client in clients:
            assert b" 200 " in client.recv(4096)
        # All are open still, beside the one that asks.
        assert counted(running, "arbiter_connections") == 10_001
        assert counted(running, "process_resident_memory_bytes") < 600e6
    finally:
        for client in clients:
            client.close()
    assert polled(lambda: counted(running, "arbiter_connections") == 1)


def refused(ask_once, most: int) -> tuple[int, str]:
    """Asks until there is no room."""
    for number in range(most):
        status, answer = ask_once(number)
        if status >= 400:
            return status, answer["code"]
    raise AssertionError(f"{most} requests are accepted")


def fill_with_tickets(running) -> None:
    """Queues the largest tickets, under one session after another, until all their shares are used up."""
    while True:
        session = running.ask("POST", "/sessions", {"ttlSeconds": 3600})[1]
        connection = running.connect()

        def queue(number: int) -> tuple[int, object]:
            participants = [{"client": f"{session['id']}-{number}-{other}-".ljust(128, "p")} for other in range(64)]
            body = {"scene": session["id"], "queueSeconds": 86400, "participants": participants,
                    "animation": {"userInfo": {"text": "y" * 4000}}}
            return ask(connection, "POST", "/transitions/serialize", body, {"Arbiter-Session": session["token"]})

        before = counted(running, "arbiter_state_bytes", connection)
        assert refused(queue, 10_000) == (429, "share-used-up")
        if counted(running, "arbiter_state_bytes", connection) - before < 1e6:
            return


def test_one_client_makes_the_daemon_hold_much_less_than_a_gigabyte(daemon):
    running = daemon()
    connection = running.connect()
    streams = [stalled(running, b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n") for _ in range(1000)]
    # Their own memory is not that of the tickets.
    assert polled(lambda: counted(running, "arbiter_event_streams", connection) == len(streams))
    begin = peak(running.process.pid)
    fill_with_tickets(running)
    held = counted(running, "arbiter_state_bytes", connection)
    # What was estimated is what it takes, beside what the process needs anyway.
    assert peak(running.process.pid) - begin < 1.25 * held / 1e6
    tabs = {"root": {"id": "root", "kind": "tabs", "children": [f"{number}-".ljust(120, "v") for number in range(4000)]}}
    assert refused(lambda number: ask(connection, "PUT", f"/scenes/b{number}/storyboard", tabs), 1000)[0] in (429, 503)
    for number in range(12_000):
        # In scenes that exist, because there is no room for others.
        body = {"scene": f"b{number % 10}", "animation": {"userInfo": {"text": "y" * 4000}}}
        status, started = ask(connection, "POST", "/transitions/start", body)
        if status == 201:
            ask(connection, "POST", "/transitions/end", {"id": started["id"], "token": started["token"]})
    lists = [stalled(running, b"GET /transitions?limit=1000 HTTP/1.1\r\nHost: localhost\r\n\r\n") for _ in range(100)]
    body = (b"PUT /scenes/x/storyboard HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: 4100000\r\n\r\n") + b" " * 4_000_000
    bodies = [stalled(running, body) for _ in range(100)]
    heads = [stalled(running, b"GET / HTTP/1.1\r\nX-A: " + b"a" * 10_000) for _ in range(1000)]
    assert running.ask("GET", "/readyz")[0] == 200
    assert peak(running.process.pid) < 900
    for client in [*streams, *lists, *bodies, *heads]:
        client.close()
    # To end by itself, it would first complete a compaction of all this, for long.
    running.kill()


def stalled(running, request: bytes) -> socket.socket:
    """A client that sends, and reads nothing."""
    client = socket.create_connection(("127.0.0.1", running.port), timeout=2)
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    try:
        client.sendall(request)
    except OSError:
        pass  # Refused before all of it was sent.
    return client
