"""What the errors of the Python client say, and what it refuses before it sends anything."""

import asyncio
import itertools
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from harness import PATIENCE
from transition_arbiter import Arbiter, AsyncArbiter, Refused, TransitionEnded, Unreachable

NAV = {"root": {"id": "nav", "kind": "navigation", "children": ["list"]}}
POP = {"type": "pop", "navigation": "nav"}


@pytest.fixture
def answering():
    """Makes a server that answers all requests with these bytes, and counts them."""
    servers = []

    def make(body: bytes) -> tuple[str, list[str]]:
        asked: list[str] = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append(self.path)
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        servers.append(ThreadingHTTPServer(("127.0.0.1", 0), Handler))
        threading.Thread(target=servers[-1].serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{servers[-1].server_port}", asked

    yield make
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("value, kind", [
    (float("nan"), ValueError), (float("inf"), ValueError), (-1, ValueError), (-0.001, ValueError), (-(10**400), ValueError),
    (True, TypeError), ("1", TypeError)])
def test_what_can_be_no_duration(value, kind):
    with pytest.raises(kind, match="patience"):
        Arbiter(patience=value)
    # Nobody listens there, so what is sent is an error of another kind.
    with Arbiter("http://127.0.0.1:1", patience=0) as arbiter:
        scene = arbiter.scene()
        for call in [scene.serialize, scene.transition]:
            with pytest.raises(kind, match="timeout"):
                call(timeout=value)
        for call, name in itertools.product(
            [scene.start, scene.serialize, scene.transition],
            ["lease_seconds", "max_hold_seconds", "ticket_seconds", "queue_seconds", "ready_seconds"]
        ):
            with pytest.raises(kind, match=name):
                call(**{name: value})
            with pytest.raises(kind, match="animation duration"):
                call(animation={"duration": value})


def test_no_duration_is_none_but_that_of_a_turn():
    with Arbiter("http://127.0.0.1:1", patience=0) as arbiter:
        with pytest.raises(TypeError):
            arbiter.scene().start(lease_seconds=None)
        with pytest.raises(ValueError):
            arbiter.scene().start(lease_seconds=0)
        with pytest.raises(Unreachable):
            arbiter.scene().serialize(timeout=None)


def test_an_answer_that_is_nested_too_deeply(answering):
    body = b'{"hierarchy":' + 5000 * b'[' + 5000 * b']' + b'}'
    url, asked = answering(body)
    with Arbiter(url) as arbiter, pytest.raises(Refused, match="levels") as refused:
        arbiter.scene().read()
    assert refused.value.code == "too-deep"

    async def read() -> None:
        async with AsyncArbiter(url) as arbiter:
            await arbiter.scene().read()

    with pytest.raises(Refused, match="levels"):
        asyncio.run(read())
    # It is not asked again for what cannot be read.
    assert len(asked) == 2


def test_an_event_that_is_nested_too_deeply(answering):
    url, _ = answering(b"event: hierarchy.changed\ndata: " + 5000 * b"[" + 5000 * b"]" + b"\n\n")
    with Arbiter(url) as arbiter, pytest.raises(Refused, match="event hierarchy.changed .* levels"):
        next(arbiter.scene().events())


def test_what_is_cut_off_is_another_error(answering):
    url, _ = answering(b'{"hierarchy":')
    with Arbiter(url, patience=0) as arbiter, pytest.raises(Unreachable, match="not one of the daemon"):
        arbiter.scene().read()


def test_the_address_of_a_daemon_that_is_not_there(tmp_path):
    socket = f"unix:{tmp_path}/arbiter.sock"
    with Arbiter(socket, patience=0) as arbiter, pytest.raises(Unreachable) as unreachable:
        arbiter.scene().read()
    assert f"GET /scenes/main at {socket}: " in str(unreachable.value)
    assert "localhost" not in str(unreachable.value)
    with Arbiter("http://user:5ec2e7@127.0.0.1:1", patience=0) as arbiter, pytest.raises(Unreachable) as unreachable:
        arbiter.scene().read()
    assert "at http://127.0.0.1:1: " in str(unreachable.value)


def test_what_the_daemon_has_forgotten_is_not_called_unreachable(daemon):
    running = daemon()
    with Arbiter(running.url) as arbiter:
        with pytest.raises(TransitionEnded) as ended, arbiter.scene().transition() as transition:
            running.kill()
            running.start()
            assert transition.lost.wait(PATIENCE)
        assert (ended.value.outcome, ended.value.reason) == ("expired", "forgotten")
        assert "no longer knows" in str(ended.value)
        assert ended.value.document["id"] == transition.id
        assert "token" not in ended.value.document


def test_a_body_that_has_nothing_to_hold(daemon):
    running = daemon()
    with Arbiter(running.url) as arbiter:
        arbiter.scene().declare(NAV)
        with arbiter.scene().transition(operation=POP) as transition:
            assert (transition.noop, transition.fence) == (True, None)
        assert transition.ended["outcome"] == "completed"
        with arbiter.scene().transition() as transition:
            assert transition.noop is False
            assert transition.fence > 0


def test_a_turn_is_taken_once(daemon):
    running = daemon()
    with Arbiter(running.url) as arbiter:
        turn = arbiter.scene().transition()
        with turn:
            pass
        with pytest.raises(RuntimeError), turn:
            pass
    assert json.dumps(running.ask("GET", "/scenes/main")[1]["running"]) == "[]"
