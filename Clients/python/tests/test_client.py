"""What the errors of the Python client say, and what it refuses before it sends anything."""

import asyncio
import gc
import itertools
import json
import os
import signal
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from harness import PATIENCE
from transition_arbiter import (
    Arbiter, AsyncArbiter, AsyncTransitionLock, Refused, TransitionEnded, TransitionLock, Unreachable, operations)
from transition_arbiter._wire import Answer, Send

NAV = {"root": {"id": "nav", "kind": "navigation", "children": ["list"]}}
# A keeper that gives up takes as long as a sixth of this, in seconds.
LEASE = 12
POP = {"type": "pop", "navigation": "nav"}


@pytest.fixture
def answering():
    """Makes a server that answers all requests with these bytes, and counts them."""
    servers = []

    def make(body: bytes, content_type: str = "application/json") -> tuple[str, list[str]]:
        asked: list[str] = []

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                asked.append(self.path)
                self.send_response(200)
                self.send_header("Content-Type", content_type)
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
    url, _ = answering(b"event: hierarchy.changed\ndata: " + 5000 * b"[" + 5000 * b"]" + b"\n\n", "text/event-stream")
    with Arbiter(url) as arbiter, pytest.raises(Refused, match="event hierarchy.changed .* levels"):
        next(arbiter.scene().events())


@pytest.mark.parametrize("body, content_type", [
    (b"<html>\n\n", "text/html"), (b"event: transition.ended\ndata: {\n\n", "text/plain")])
def test_what_is_no_stream_of_events(answering, body, content_type):
    url, _ = answering(body, content_type)
    with Arbiter(url, patience=0) as arbiter, pytest.raises(Unreachable, match="no stream of events"):
        next(arbiter.scene().events())


@pytest.mark.parametrize("use", [
    lambda scene: scene.controller(3), lambda scene: scene.start(participants="menu"), lambda scene: scene.start(leaseSeconds=3),
    lambda scene: scene.serialize_interactive(scopee="scene"), lambda scene: scene.arbiter.transitions(limit="5"),
    lambda scene: next(scene.events(since=3)), lambda scene: scene.arbiter.scene(None).read()])
def test_what_is_of_another_type(use):
    with Arbiter("http://127.0.0.1:1", patience=0) as arbiter, pytest.raises(TypeError, match="[Tt]here is no|is a|is an"):
        use(arbiter.scene())


@pytest.mark.parametrize("use", [
    lambda scene: scene.controller(""), lambda scene: scene.dry_run("start#"), lambda scene: scene.arbiter.transitions(limit=0),
    lambda scene: scene.until_idle(timeout=10 ** 400)])
def test_what_is_of_no_use(use):
    with Arbiter("http://127.0.0.1:1", patience=0) as arbiter, pytest.raises(ValueError):
        use(arbiter.scene())


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


def test_what_waits_behind_what_could_not_reach_the_daemon_fails_with_it(monkeypatch):
    asked = []

    async def send(self: AsyncArbiter, send: Send) -> None:
        asked.append(send.path)
        await asyncio.sleep(0)  # The others ask meanwhile.
        raise Unreachable("a test")

    monkeypatch.setattr(AsyncArbiter, "_send", send)

    async def ask() -> list:
        async with AsyncArbiter(patience=0) as arbiter:
            return await asyncio.gather(*(arbiter.scene().start() for _ in range(3)), return_exceptions=True)

    assert [type(error) for error in asyncio.run(ask())] == [Unreachable] * 3
    assert asked == ["/sessions"]


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


@pytest.mark.parametrize("decision, outcome", [("finish", "completed"), ("cancel", "cancelled")])
def test_a_decided_gesture_that_is_collected_ends_as_decided(daemon, decision, outcome):
    running = daemon()
    with Arbiter(running.url) as arbiter:
        transition = arbiter.scene().start(interactive=True, lease_seconds=LEASE)
        transition.release(decision=decision)
        identifier = transition.id
        with pytest.warns(ResourceWarning):
            del transition
            gc.collect()
        arbiter.scene().serialize(timeout=PATIENCE).complete()
        assert running.ask("GET", f"/transitions/{identifier}")[1]["outcome"] == outcome


def test_what_is_no_number_moves_nothing(daemon):
    running = daemon()
    with Arbiter(running.url) as arbiter:
        drag = arbiter.scene().start_interactive(lease_seconds=LEASE)
        drag.update(0.7)
        for wrong in (float("nan"), float("inf")):
            with pytest.raises(ValueError):
                drag.update(wrong)
            with pytest.raises(ValueError):
                drag.granted().progress(0.1, velocity=wrong)
        for wrong in ("1", None, True):
            with pytest.raises(TypeError):
                drag.update(wrong)
        assert drag.release(lambda remaining, transition: None)
        assert drag.granted().progress(0.1)["applied"] is False


def test_a_gesture_whose_rest_fails_ends_as_decided(daemon):
    running = daemon()
    with Arbiter(running.url) as arbiter:
        drag = arbiter.scene().start_interactive(lease_seconds=LEASE)
        drag.update(0.7)
        with pytest.raises(ZeroDivisionError):
            drag.release(lambda remaining, transition: 1 / 0)
        assert drag.granted().ended["outcome"] == "completed"
        assert arbiter.scene().start_interactive() is not None


def test_a_position_that_no_number_has(daemon):
    running = daemon()
    with Arbiter(running.url) as arbiter:
        drag = arbiter.scene().start_interactive()
        with pytest.raises(ValueError, match="fraction is a finite number"):
            drag.update(10 ** 400)
        drag.update(0.7)
        with pytest.raises(TypeError, match="rest is a function"):
            drag.release("now")
        assert drag.release(lambda remaining, transition: None)


@pytest.mark.parametrize("moment", ["asked", "released", "granted"])
def test_a_task_that_is_cancelled_while_the_finger_leaves_holds_nothing(daemon, monkeypatch, moment):
    running = daemon()
    send = AsyncArbiter._send

    async def use() -> None:
        leaving = asyncio.Event()

        async def slowly(self: AsyncArbiter, request: Send) -> object:
            answer = await send(self, request)
            if request.path == {"asked": "/transitions/serialize", "released": "/transitions/release"}.get(moment):
                leaving.set()
                await asyncio.sleep(60)
            return answer

        async with AsyncArbiter(running.url) as arbiter:
            scene = arbiter.scene()
            holder = await scene.start() if moment == "granted" else None
            monkeypatch.setattr(AsyncArbiter, "_send", slowly)
            drag = scene.serialize_interactive()
            drag.update(0.9)
            finishing = asyncio.create_task(drag.finish())
            if holder is None:
                await leaving.wait()
                finishing.cancel()
            else:
                drag._turn.add_done_callback(lambda _: finishing.cancel())
                await holder.complete()
            with pytest.raises(asyncio.CancelledError):
                await finishing
            monkeypatch.undo()
            assert (await scene.until_idle(timeout=5))["idle"] is True

    asyncio.run(use())


def test_a_gesture_that_cannot_be_asked_for(daemon):
    running = daemon()
    with Arbiter(running.url) as arbiter:
        arbiter.scene().declare(NAV)
        drag = arbiter.scene().serialize_interactive(operation=operations.pop("nowhere"))
        drag.update(0.7)
        for use in (drag.granted, drag.release, drag.finish):
            with pytest.raises(TransitionEnded, match="nowhere"):
                use()
        drag.cancel()  # Nothing is left to be cancelled.


# Lists


def test_a_list_is_read_page_by_page_until_there_are_enough():
    def answered(flow) -> tuple[list, list[str]]:
        asked = []
        send = next(flow)
        try:
            while True:
                asked.append(send.path)
                last = int(send.path.rpartition("after=")[2]) if "after=" in send.path else 9
                headers = {"link": f'</transitions?after={last - 3}>; rel="next"'} if last > 3 else {}
                page = json.dumps({"transitions": [last - 2, last - 1, last]}).encode()
                send = flow.send(Answer.of(200, headers, page, 0.0))
        except StopIteration as stop:
            return stop.value, asked

    flows = Arbiter()._flows
    assert answered(flows.transitions(5, {"client": "a&b", "state": None})) == (
        [5, 6, 7, 8, 9], ["/transitions?client=a%26b&limit=5", "/transitions?after=6"])
    assert answered(flows.transitions(100, {}))[0] == list(range(1, 10))


# Trying


def test_a_try_that_holds_while_the_body_runs(daemon):
    running = daemon()
    with Arbiter(running.url) as arbiter:
        scene = arbiter.scene()
        with scene.try_transition() as transition:
            with scene.try_transition() as other:
                assert other is None
            assert transition.ended is None
        assert transition.ended["outcome"] == "completed"
        with pytest.raises(ZeroDivisionError), scene.try_transition() as transition:
            1 / 0
        assert transition.ended["outcome"] == "cancelled"
        assert scene.read()["running"] == []


def test_a_try_that_holds_while_the_body_runs_in_asyncio(daemon):
    running = daemon()

    async def play() -> None:
        async with AsyncArbiter(running.url) as arbiter:
            scene = arbiter.scene()
            async with scene.try_transition() as transition:
                async with scene.try_transition() as other:
                    assert other is None
                assert transition.ended is None
            assert transition.ended["outcome"] == "completed"
            with pytest.raises(ZeroDivisionError):
                async with scene.try_transition() as transition:
                    1 / 0
            assert transition.ended["outcome"] == "cancelled"

    asyncio.run(play())


def test_a_block_that_fails_after_its_transition_is_complete(daemon):
    running = daemon()

    async def play() -> None:
        async with AsyncArbiter(running.url) as arbiter:
            lock = AsyncTransitionLock(arbiter.scene())

            async def block() -> None:
                lock.transition_complete()
                1 / 0

            with pytest.raises(ZeroDivisionError):
                await lock.serialize_transition(block)

    asyncio.run(play())
    [found] = running.ask("GET", "/transitions?scene=main")[1]["transitions"]
    assert found["outcome"] == "completed"


def test_an_operation_belongs_to_what_was_granted_last(daemon):
    running = daemon()
    with Arbiter(running.url) as arbiter:
        scene = arbiter.scene()
        lock = TransitionLock(scene, lease_seconds=LEASE)
        # The loss of what was started is not heard here, as if it were on its way.
        assert lock.start_transition()
        started = lock._started
        started.transition._lose = lambda ended: None
        running.ask("POST", "/transitions/revoke", {"id": started.transition.id, "reason": "a test"})
        belongs = []

        def block() -> None:
            belongs.append(lock._belongs())
            lock.transition_complete()

        lock.serialize_transition(block)
        assert belongs[0].transition.id != started.transition.id
        lock._started = None


def test_what_is_collected_while_it_is_held_is_given_back(daemon):
    running = daemon()
    with Arbiter(running.url) as arbiter:
        scene = arbiter.scene()
        transition = scene.start(lease_seconds=LEASE)
        identifier, lost = transition.id, transition.lost
        with pytest.warns(ResourceWarning, match=f"{identifier} was not ended"):
            del transition
            gc.collect()
        scene.serialize(timeout=PATIENCE).complete()
        assert lost.wait(PATIENCE)
        assert running.ask("GET", f"/transitions/{identifier}")[1]["outcome"] == "cancelled"


def test_what_is_collected_while_it_is_held_is_given_back_in_asyncio(daemon):
    running = daemon()

    async def play() -> None:
        async with AsyncArbiter(running.url) as arbiter:
            scene = arbiter.scene()
            transition = await scene.start(lease_seconds=LEASE)
            identifier, lost = transition.id, transition.lost
            with pytest.warns(ResourceWarning, match=f"{identifier} was not ended"):
                del transition
                gc.collect()
            await (await scene.serialize(timeout=PATIENCE)).complete()
            await asyncio.wait_for(lost.wait(), PATIENCE)

    asyncio.run(play())


# Other processes and loops


def in_child(body) -> str:
    """Runs this in a forked child: what it raised."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            body()
            os.write(writing, b"nothing")
        except BaseException as error:
            os.write(writing, f"{type(error).__name__}: {error}".encode())
        os._exit(0)
    os.close(writing)
    # One that hangs is ended, and has raised nothing.
    alarm = threading.Timer(PATIENCE, os.kill, [child, signal.SIGKILL])
    alarm.start()
    os.waitpid(child, 0)
    alarm.cancel()
    with os.fdopen(reading) as file:
        return file.read()


def test_the_client_of_a_parent_in_a_forked_child(daemon):
    running = daemon()
    arbiter = Arbiter(running.url)
    scene = arbiter.scene()
    events = scene.events(since="0")
    with scene.transition() as transition, scene.hierarchy() as hierarchy:
        next(events)
        uses = [
            lambda: scene.start(), lambda: scene.serialize(timeout=1), lambda: scene.transition().__enter__(), scene.read,
            lambda: scene.try_transition().__enter__(), transition.complete, transition.cancel, arbiter.close,
            lambda: arbiter.ready(transition.id), lambda: list(events), lambda: next(scene.events()),
            lambda: scene.declare(NAV), lambda: scene.hierarchy().__enter__(), lambda: arbiter.__exit__(None),
            lambda: hierarchy.__exit__(None), lambda: list(hierarchy.changes()), transition.check]
        for use in uses:
            raised = in_child(use)
            assert raised.startswith("RuntimeError: ") and "make another client after the fork" in raised
        assert scene.read()["running"][0]["id"] == transition.id
    arbiter.close()


def test_a_client_that_was_made_before_a_fork_and_is_used_after_it(daemon):
    running = daemon()
    # As under a server that makes its workers after it has read the program.
    arbiter = Arbiter(running.url)
    for _ in range(2):
        assert in_child(lambda: arbiter.scene().start(scope="scene").complete()) == "nothing"
    assert len(running.ask("GET", "/transitions?scene=main")[1]["transitions"]) == 2


def test_a_forked_child_that_leaves_what_its_parent_has_entered(daemon):
    running = daemon()

    def hold(error: BaseException | None) -> None:
        with Arbiter(running.url) as arbiter, arbiter.scene().transition() as transition:
            child = os.fork()
            if child == 0:
                if error:
                    raise error
                return
            assert os.waitpid(child, 0) == (child, 0)
            assert arbiter.scene().read()["running"][0]["id"] == transition.id

    parent = os.getpid()
    for error, expected in [(None, RuntimeError), (SystemExit(0), SystemExit), (KeyError("x"), KeyError)]:
        try:
            hold(error)
        except BaseException as raised:
            if os.getpid() != parent:
                os._exit(0 if type(raised) is expected else 1)
            raise
        if os.getpid() != parent:
            os._exit(1)


def test_a_second_event_loop():
    arbiter = AsyncArbiter("http://127.0.0.1:1", patience=0)

    async def read() -> None:
        await arbiter.scene().read()

    async def follow() -> None:
        async for _ in arbiter.scene().events():
            pass

    with pytest.raises(Unreachable):
        asyncio.run(read())
    for use in [read, follow, arbiter.aclose]:
        with pytest.raises(RuntimeError, match="make another one for this loop"):
            asyncio.run(use())
