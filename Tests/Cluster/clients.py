"""Clients that work through all nodes, each a thread with a connection to every node, and write down what they see."""

import collections
import http.client
import json
import random
import socket
import threading
import time
import traceback
from dataclasses import dataclass

from history import (NOTHING_DONE, SESSION_ENDED, UNFINISHED, UNREACHED, Call, Events, Follower, Register, Session,
                     Transition, believed_until, carried_out)

clock = time.monotonic
# How long an answer may take beyond what was asked to wait for, before the client takes the node for gone.
PATIENCE = 4
CONNECTING = 1.5


@dataclass
class Answer:
    status: int | None
    body: object
    sent: float
    answered: float

    @property
    def code(self) -> str | None:
        return self.body.get("code") if isinstance(self.body, dict) else None

    @property
    def detail(self) -> str | None:
        return self.body.get("detail") if self.status == 503 and isinstance(self.body, dict) else None

    @property
    def seen(self) -> Transition | None:
        if self.status is not None and self.status < 300:
            return Transition.of(self.body)
        # The refusal has the ended transition.
        return Transition.of(self.body.get("transition")) if isinstance(self.body, dict) else None


class World:
    """What all clients share."""

    def __init__(self, nodes: dict[str, str], seed: int) -> None:
        # Names and addresses.
        self.nodes = nodes
        self.seed = seed
        self.over = threading.Event()
        # After it, nobody finishes what it has begun.
        self.abandoned = threading.Event()
        self.calls: list[Call] = []
        self.events = Events()
        self.register = Register(clock)
        self.violations: list[str] = []
        self.failures: list[str] = []
        self.counts: collections.Counter[str] = collections.Counter()
        # What the probes found: when a start was sent and answered, at which node.
        self.probes: list[tuple[float, float, str]] = []
        # Transitions that are held just now, by scene: (id, token), for what a frozen node is asked.
        self.held: dict[str, tuple[str, str]] = {}


class Client(threading.Thread):
    """A client; `turn` is what it does again and again."""

    def __init__(self, world: World, name: str) -> None:
        super().__init__(name=name, daemon=True)
        self.world = world
        self.random = random.Random(f"{world.seed}/{name}")
        self.node = self.random.choice(list(world.nodes))
        self.connections: dict[str, http.client.HTTPConnection] = {}
        self.number = 0

    def turn(self) -> None:
        raise NotImplementedError

    def run(self) -> None:
        try:
            while not self.world.over.is_set():
                self.number += 1
                if self.random.random() < 0.1:
                    self.move()
                self.turn()
        except Exception as error:  # A mistake of the test, which must not pass for success.
            self.world.failures.append(f"{self.name}: {error!r}\n{traceback.format_exc()}")

    # MARK: - Asking

    def pause(self, least: float, most: float | None = None) -> None:
        self.world.over.wait(self.random.uniform(least, most or least))

    def move(self) -> None:
        self.node = self.random.choice([name for name in self.world.nodes if name != self.node])

    def ask(self, method: str, path: str, body: object = None, headers: dict | None = None, wait: float = 0,
            node: str | None = None) -> Answer:
        node = node or self.node
        fields = dict(headers or {})
        data = None
        if body is not None:
            data = json.dumps(body)
            fields["Content-Type"] = "application/json"
        sent = clock()
        is_reached = False
        try:
            connection = self.connections.get(node)
            if connection is None:
                connection = http.client.HTTPConnection(self.world.nodes[node], 8080, timeout=CONNECTING)
                connection.connect()
                connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self.connections[node] = connection
            connection.sock.settimeout(wait + PATIENCE)
            is_reached = True
            sent = clock()
            connection.request(method, path, data, fields)
            response = connection.getresponse()
            text = response.read().decode()
            if response.will_close:
                connection.close()
                self.connections.pop(node, None)
            is_json = "json" in (response.getheader("Content-Type") or "")
            answer = Answer(response.status, json.loads(text) if is_json and text else text, sent, clock())
        except (OSError, http.client.HTTPException, ValueError, AttributeError):
            connection = self.connections.pop(node, None)
            if connection:
                connection.close()
            answer = Answer(None, None if is_reached else {"code": UNREACHED}, sent, clock())
        self.world.counts["requests"] += 1
        if answer.status is None or answer.status == 503:
            self.world.counts[f"503 {answer.code}" if answer.status else answer.code or "no answer"] += 1
        elif answer.status >= 500:
            self.world.violations.append(f"{self.name} got {answer.status} {answer.body} for {method} {path} at {node}")
        return answer

    def call(self, kind: str, scene: str, body: dict, *, id: str | None = None, key: str | None = None,
             headers: dict | None = None, is_repeated: bool = False, wait: float = 0) -> tuple[Answer, Call]:
        """A call of the owner, written down."""
        fields = dict(headers or {})
        if key:
            fields["Idempotency-Key"] = key
        node = self.node
        answer = self.ask("POST", f"/transitions/{kind}", body, fields, wait)
        call = Call(kind, scene, answer.sent, answer.answered, answer.status, answer.code, answer.seen, id, key,
                    body.get("outcome"), is_repeated, self.name, node, answer.detail)
        self.world.calls.append(call)
        holder = answer.body.get("holder") if answer.code == "busy" and isinstance(answer.body, dict) else None
        if holder and "id" in holder:
            self.world.calls.append(Call("look", scene, answer.sent, answer.answered, 200, None,
                                         Transition(holder["id"], UNFINISHED), client=self.name, node=node))
        if answer.status in (None, 503):
            self.move()
        return answer, call

    def look(self, id: str, scene: str) -> Answer:
        node = self.node
        answer = self.ask("GET", f"/transitions/{id}")
        self.world.calls.append(
            Call("look", scene, answer.sent, answer.answered, answer.status, answer.code, answer.seen, id,
                 client=self.name, node=node, detail=answer.detail))
        if answer.status in (None, 503):
            self.move()
        return answer

    # MARK: - Stories

    def hold(self, call: Call, seconds: float, renews_every: float = 0) -> None:
        """Holds what was granted, writes to the register, and ends it."""
        world, scene, seen = self.world, call.scene, call.seen
        token, until = seen.token or self.token, believed_until(call) or 0
        world.counts["grants"] += 1
        world.held[scene] = (seen.id, token)
        over = clock() + seconds
        try:
            while True:
                if not world.register.write(scene, seen.fence, until, f"{self.name} ({seen.id})"):
                    return
                rest = over - clock()
                if rest <= 0 or world.over.is_set():
                    break
                self.pause(min(rest, renews_every or rest))
                if renews_every and clock() < over:
                    answer, renewed = self.call("renew", scene, {"id": seen.id, "token": token}, id=seen.id)
                    until = max(until, believed_until(renewed) or 0)
                    if answer.status in (404, 409, 410):
                        return
            self.end(seen.id, token, scene, self.random.choice(["completed", "completed", "cancelled"]))
        finally:
            world.held.pop(scene, None)

    def end(self, id: str, token: str, scene: str, outcome: str) -> bool:
        """Ends a transition, and asks as long as it is not known whether that was done."""
        body = {"id": id, "token": token, "outcome": outcome}
        while not self.world.abandoned.is_set():
            answer, _ = self.call("end", scene, body, id=id)
            if answer.status not in (None, 503):
                if answer.status not in (200, 404, 409, 410):
                    self.world.violations.append(f"the end of {id} got {answer.status} {answer.body}")
                self.world.counts["ends"] += answer.status == 200
                if self.random.random() < 0.5:
                    self.move()
                    self.look(id, scene)
                return answer.status == 200
            self.pause(0.03, 0.2)
        return False

    def key(self) -> str:
        return f"{self.random.getrandbits(128):032x}"

    def wait_for_turn(self, call: Call, wait: float) -> Call | None:
        """Awaits the grant of a ticket; `None` if it ended, or if the test is over."""
        seen = call.seen
        token = seen.token
        self.token = token
        while call.seen and call.seen.state == "queued" or not call.is_known:
            if self.world.over.is_set():
                self.end(seen.id, token, call.scene, "cancelled")
                return None
            answer, call = self.call(
                "await", call.scene, {"id": seen.id, "token": token, "wait": wait}, id=seen.id, wait=wait)
            if answer.status in (404, 410):
                return None
            if not call.is_known:
                self.pause(0.03, 0.2)
        return call if call.seen and call.seen.state == "running" else None


class Starter(Client):
    """Contends with `start`, without a key: what was lost on the way stays unknown."""

    # The scenes of all kinds are chosen so that each of the six shards of a run has some that much happens in.
    scenes = ("start-c", "start-f")

    def turn(self) -> None:
        scene = self.random.choice(self.scenes)
        lease = self.random.choice([2, 3, 5])
        answer, call = self.call("start", scene, {"scene": scene, "client": self.name, "leaseSeconds": lease})
        if answer.status == 201:
            self.token = call.seen.token
            self.hold(call, self.random.choice([0, 0.01, 0.05, 0.3]))
        self.pause(0.02, 0.15)


class Queuer(Client):
    """Waits in line, with keys that survive failovers."""

    scenes = ("line-d", "line-b")

    def turn(self) -> None:
        scene, wait, key = self.random.choice(self.scenes), self.random.choice([0, 1, 4]), self.key()
        body = {"scene": scene, "client": self.name, "leaseSeconds": 6, "wait": wait}
        is_repeated = False
        while True:
            answer, call = self.call(
                "serialize", scene, body, key=key, wait=wait, is_repeated=is_repeated)
            if answer.status not in (None, 503):
                break
            if self.world.over.is_set():
                return
            is_repeated = True
            self.pause(0.03, 0.2)
        if answer.status not in (200, 201, 202):
            self.world.violations.append(f"{self.name} got {answer.status} {answer.body} for serialize")
            return
        self.token = call.seen.token
        granted = self.wait_for_turn(call, self.random.choice([1, 4]))
        if granted:
            self.hold(granted, self.random.choice([0, 0.01, 0.05]))
        self.pause(0.01, 0.1)


class Holder(Client):
    """Holds for long, and only renews; another one of its kind waits behind it."""

    scenes = ("hold-d", "hold-b")

    def turn(self) -> None:
        scene, key = self.random.choice(self.scenes), self.key()
        lease = self.random.choice([4, 6, 12])
        body = {"scene": scene, "client": self.name, "leaseSeconds": lease, "ticketSeconds": 60}
        is_repeated = False
        while True:
            answer, call = self.call("serialize", scene, body, key=key, is_repeated=is_repeated)
            if answer.status in (200, 201, 202):
                break
            if self.world.over.is_set():
                return
            is_repeated = True
            self.pause(0.03, 0.2)
        self.token = call.seen.token
        granted = self.wait_for_turn(call, 3)
        if granted:
            self.hold(granted, self.random.uniform(2, 15), renews_every=self.random.uniform(0.2, 1))


class KeyedStarter(Client):
    """Asks with keys, and looks whether a refusal because of the node really left nothing behind."""

    scenes = ("keyed-c", "keyed-i")

    def __init__(self, world: World, name: str) -> None:
        super().__init__(world, name)
        # Clients' names of requests that were refused, and given up, each with when that was.
        self.given_up: collections.deque[tuple[str, float, Call]] = collections.deque()

    def turn(self) -> None:
        scene, key, kind = self.random.choice(self.scenes), self.key(), self.random.choice(["start", "serialize"])
        name = f"{self.name}-{self.number}"
        body = {"scene": scene, "client": name, "leaseSeconds": 4}
        is_repeated = False
        while True:
            answer, call = self.call(kind, scene, body, key=key, is_repeated=is_repeated)
            if answer.status not in (None, 503):
                break
            if self.world.over.is_set():
                return
            if answer.code in NOTHING_DONE and not is_repeated:
                if self.random.random() < 0.5:
                    self.given_up.append((name, clock() + 15, call))
                    return
                self.expect_nothing(name, call)
            if answer.code not in NOTHING_DONE:
                is_repeated = True
            self.pause(0.03, 0.2)
        if answer.status in (201, 202):
            self.token = call.seen.token
            granted = self.wait_for_turn(call, 2) if kind == "serialize" else call
            if granted and granted.seen.state == "running":
                # What a key made stays the same.
                if self.random.random() < 0.3:
                    self.move()
                    self.call(kind, scene, body, key=key, is_repeated=True)
                self.hold(granted, self.random.choice([0, 0.02]))
        while self.given_up and self.given_up[0][1] < clock():
            name, _, call = self.given_up.popleft()
            self.expect_nothing(name, call)
        self.pause(0.01, 0.1)

    def expect_nothing(self, name: str, call: Call) -> None:
        while not self.world.abandoned.is_set():
            answer = self.ask("GET", f"/transitions?client={name}")
            if answer.status == 200:
                self.world.counts["refusals looked after"] += 1
                self.world.violations += carried_out(call, name, answer.body["transitions"])
                return
            self.move()
            self.pause(0.05, 0.2)


class EarlyEnder(Client):
    """Ends tickets while they wait: an end that was acknowledged is never taken back."""

    def turn(self) -> None:
        scene, key = "line-d", self.key()
        body = {"scene": scene, "client": self.name, "leaseSeconds": 4}
        is_repeated = False
        while True:
            answer, call = self.call("serialize", scene, body, key=key, is_repeated=is_repeated)
            if answer.status in (200, 201, 202):
                break
            if self.world.over.is_set():
                return
            is_repeated = True
            self.pause(0.03, 0.2)
        id = call.seen.id
        if self.end(id, call.seen.token, scene, self.random.choice(["completed", "cancelled"])):
            while not self.world.over.is_set():
                answer = self.look(id, scene)
                if answer.status == 404 or answer.seen and answer.seen.state == "ended":
                    break
                self.pause(0.05, 0.2)
        self.pause(0.1, 0.5)


class SessionUser(Client):
    """Has a session for some time, and transitions in it in several shards, which end with it."""

    # With the six shards of a run, one in each.
    scenes = [f"session-{letter}" for letter in "kcdiab"]
    LIVES = 15

    def turn(self) -> None:
        answer = self.ask("POST", "/sessions", {"client": self.name, "ttlSeconds": self.LIVES})
        if answer.status != 201:
            self.move()
            self.pause(0.05, 0.2)
            return
        session = {"Arbiter-Session": answer.body["token"]}
        known = Session(self.name, answer.sent, self.LIVES)
        over = clock() + self.random.uniform(5, 30)
        ids = []
        while clock() < over and not self.world.over.is_set():
            if self.random.random() < 0.3:
                key, scene = self.key(), self.random.choice(self.scenes)
                answer, call = self.call("serialize", scene, {"scene": scene, "leaseSeconds": 8}, key=key,
                                         headers=session)
                if answer.status in (200, 201, 202):
                    ids.append((call.seen.id, call.seen.token, scene))
                    if self.random.random() < 0.7:
                        self.end(call.seen.id, call.seen.token, scene, "completed")
            else:
                answer = self.ask("POST", "/sessions/renew", {}, session)
            if answer.status not in (None, 503):
                if answer.code == "unauthenticated":
                    self.world.violations += known.gone(answer.answered)
                    self.world.counts["sessions lost"] += 1
                    return
                known.heard(answer.sent)
            else:
                self.move()
            self.pause(0.1, 1)
        self.end_session(session, known, ids)

    def end_session(self, session: dict, known: Session, ids: list[tuple[str, str, str]]) -> None:
        # From now on nothing in it is held any more, as if each had been ended.
        now = clock()
        self.world.calls += [
            Call("end", scene, now, now, code=SESSION_ENDED, id=id, client=self.name) for id, _, scene in ids]
        while not self.world.abandoned.is_set():
            answer = self.ask("POST", "/sessions/end", {}, session)
            if answer.status not in (None, 503):
                break
            self.move()
            self.pause(0.05, 0.2)
        else:
            return
        self.world.counts["sessions"] += 1
        self.move()
        known.ended = clock()
        self.world.counts["sessions over shards"] += len({scene for _, _, scene in ids}) > 1
        for id, _, scene in ids:
            while not self.world.abandoned.is_set():
                answer = self.look(id, scene)
                # A 503 says nothing about it.
                found = None if answer.status in (None, 503) else known.outlived(
                    id, scene, answer.seen, answer.answered)
                if found is not None:
                    self.world.violations += found
                    break
                self.pause(0.1, 0.3)


class Watcher(Client):
    """Follows the events of a scene at one node, and resumes at another one when the stream breaks."""

    def __init__(self, world: World, name: str, scene: str, node: str) -> None:
        super().__init__(world, name)
        (self.scene, self.node) = (scene, node)
        self.follower = Follower(name, scene, world.events)

    def turn(self) -> None:
        node = self.node
        connection = http.client.HTTPConnection(self.world.nodes[node], 8080, timeout=CONNECTING)
        try:
            connection.connect()
            # The owner's comments come more often.
            connection.sock.settimeout(8)
            since = "" if self.follower.last is None else f"?since={self.follower.last}"
            connection.request("GET", f"/scenes/{self.scene}/events{since}")
            response = connection.getresponse()
            if response.status == 200:
                self.world.counts["streams"] += 1
                self.follow(response)
            else:
                response.read()
        except (OSError, http.client.HTTPException):
            pass
        finally:
            connection.close()
        self.move()
        self.pause(0.05, 0.3)

    def follow(self, response: http.client.HTTPResponse) -> None:
        number, name, data = None, "message", ""
        for line in response:
            if not line.endswith(b"\n") or self.world.over.is_set():
                return
            text = line.decode().rstrip("\n")
            if text.startswith("id: "):
                number = int(text[4:])
            elif text.startswith("event: "):
                name = text[7:]
            elif text.startswith("data: "):
                data += text[6:]
            elif not text:
                if data:
                    self.follower.hear(number, name, data)
                number, name, data = None, "message", ""
                # Sometimes it goes away by itself, to resume elsewhere.
                if self.random.random() < 0.0005:
                    return

    def catch_up(self) -> bool:
        """Reads what is left, after all others have stopped; whether it has read everything."""
        for _ in range(40):
            answer = self.ask("GET", f"/scenes/{self.scene}")
            if answer.status == 200 and self.follower.last is not None:
                goal = answer.body["lastEvent"]
                if self.follower.last >= goal:
                    return True
                connection = http.client.HTTPConnection(self.world.nodes[self.node], 8080, timeout=3)
                try:
                    connection.request("GET", f"/scenes/{self.scene}/events?since={self.follower.last}")
                    self.read_until(goal, connection.getresponse())
                except (OSError, http.client.HTTPException):
                    pass
                finally:
                    connection.close()
            elif answer.status == 404:
                return True
            self.move()
        return False

    def read_until(self, goal: int, response: http.client.HTTPResponse) -> None:
        if response.status != 200:
            return
        number, name = None, "message"
        for line in response:
            text = line.decode().rstrip("\n")
            if text.startswith("id: "):
                number = int(text[4:])
            elif text.startswith("event: "):
                name = text[7:]
            elif text.startswith("data: "):
                self.follower.hear(number, name, text[6:])
                number = None
            if self.follower.last is not None and self.follower.last >= goal:
                return


class EverythingWatcher(Client):
    """Follows the events of all scenes at one node, and resumes at another one when the stream breaks.

    What comes after the place at which it resumes may come again, and nothing may be missing.
    """

    def __init__(self, world: World, name: str) -> None:
        super().__init__(world, name)
        self.place: str | None = None
        self.followers: dict[str, Follower] = {}

    def turn(self) -> None:
        connection = http.client.HTTPConnection(self.world.nodes[self.node], 8080, timeout=CONNECTING)
        try:
            connection.connect()
            connection.sock.settimeout(8)
            connection.request("GET", "/events", headers={} if self.place is None else {"Last-Event-ID": self.place})
            response = connection.getresponse()
            if response.status == 200:
                self.world.counts["streams of everything"] += 1
                self.follow(response)
            else:
                response.read()
        except (OSError, http.client.HTTPException):
            pass
        finally:
            connection.close()
        self.move()
        self.pause(0.05, 0.3)

    def follow(self, response: http.client.HTTPResponse) -> None:
        known = {scene: follower.last for scene, follower in self.followers.items()}
        place, name, data = None, "message", ""
        for line in response:
            if not line.endswith(b"\n") or self.world.over.is_set():
                return
            text = line.decode().rstrip("\n")
            if text.startswith("id: "):
                place = text[4:]
            elif text.startswith("event: "):
                name = text[7:]
            elif text.startswith("data: "):
                data += text[6:]
            elif not text:
                if data and name != "reset.end":
                    self.hear(json.loads(data), name, data, known)
                self.place = place or self.place
                place, name, data = None, "message", ""
                if self.random.random() < 0.001:
                    return

    def hear(self, document: dict, name: str, data: str, known: dict[str, int | None]) -> None:
        scene, number = document["scene"], document.get("number")
        if number is None:
            return
        follower = self.followers.get(scene)
        if follower is None:
            follower = self.followers[scene] = Follower(self.name, scene, self.world.events)
        if name == "reset":
            # The new owner of a shard does not have what came between the place and its beginning.
            self.world.counts["resets of everything"] += 1
            if number < (follower.last or 0):
                follower.complain(f"is reset to {number}, and had heard {follower.last}")
            follower.last = number
        elif number <= (known.get(scene) or 0):
            self.world.counts["events that came again"] += 1
        else:
            follower.hear(number, name, data)


class Probe(Client):
    """Starts transitions at one node, to see when it answers."""

    def __init__(self, world: World, node: str) -> None:
        super().__init__(world, f"probe-{node}")
        self.pinned = node

    def move(self) -> None:
        self.node = self.pinned

    def ask(self, method: str, path: str, body: object = None, headers: dict | None = None, wait: float = 0,
            node: str | None = None) -> Answer:
        return super().ask(method, path, body, headers, wait - PATIENCE + 1, self.pinned)

    def turn(self) -> None:
        answer, call = self.call(
            "start", self.name, {"scene": self.name, "client": self.name, "leaseSeconds": 0.3})
        if answer.status in (201, 409):
            self.world.probes.append((answer.sent, answer.answered, self.pinned))
        if answer.status == 201:
            self.call("end", self.name, {"id": call.seen.id, "token": call.seen.token, "outcome": "completed"},
                      id=call.seen.id)
        self.pause(0.1)


def everybody(world: World) -> list[Client]:
    scenes = [scene for kind in (Starter, Queuer, Holder, KeyedStarter) for scene in kind.scenes]
    return [
        *(Starter(world, f"starter-{number}") for number in range(4)),
        *(Queuer(world, f"queuer-{number}") for number in range(4)),
        *(Holder(world, f"holder-{number}") for number in range(4)),
        *(KeyedStarter(world, f"keyed-{number}") for number in range(4)),
        *(EarlyEnder(world, f"early-{number}") for number in range(2)),
        *(SessionUser(world, f"session-{number}") for number in range(3)),
        # Those of one scene begin at different nodes, and move when their streams break.
        *(Watcher(world, f"watcher-{number}-{scene}", scene, list(world.nodes)[(index + number) % len(world.nodes)])
          for index, scene in enumerate(scenes) for number in range(2)),
        *(EverythingWatcher(world, f"everything-{number}") for number in range(2)),
        *(Probe(world, node) for node in world.nodes),
    ]
