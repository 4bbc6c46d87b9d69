"""The agent of the Python client for Clients/conformance; `--async` drives the one for asyncio."""

import asyncio
import gc
import json
import queue
import re
import sys
import threading
import time
from contextlib import suppress

from transition_arbiter import (
    Arbiter, AsyncArbiter, AsyncTransitionLock, BlockedBySelf, Closed, Event, HierarchySnapshot, Refused, TimedOut,
    TransitionEnded, TransitionLock, Unreachable)

SECRET = "5ec2e7"


def snake(name: str) -> str:
    return re.sub(r"[A-Z]", lambda match: "_" + match[0].lower(), name)


def given(fields: dict) -> dict:
    return {snake(name): value for name, value in fields.items()}


def failure(error: Exception) -> dict:
    match error:
        case Refused():
            return {"error": "refused", "code": error.code}
        case TransitionEnded():
            return {"error": "ended", "outcome": error.outcome, "reason": error.reason, "code": error.code}
        case TimedOut():
            return {"error": "timedOut"}
        case BlockedBySelf():
            return {"error": "blockedBySelf"}
        case Unreachable():
            return {"error": "unreachable"}
        case Closed():
            return {"error": "closed"}
    raise error


def end_of(transition) -> dict:
    ended = transition.ended or {"outcome": "expired", "reason": "unreachable"}
    return {"outcome": ended["outcome"], "reason": ended.get("reason")}


def shown(event: Event) -> dict:
    return {"event": {"name": event.name, "data": event.data, "id": event.id}}


def kept(snapshot: HierarchySnapshot) -> dict:
    return {"hierarchy": {"root": snapshot.root, "revision": snapshot.revision}}


def wrong_uses(kind: type) -> dict:
    """What a client of this kind must not be made of."""
    return {
        "a token with a line break": lambda: kind(token=f"{SECRET}\nX: y"),
        "a header field with a line break": lambda: kind(headers={"Authorization": f"{SECRET}\r\nX: y"}),
        "a name of a header field with a space": lambda: kind(headers={"X Y": SECRET}),
        "another scheme": lambda: kind(f"ftp://user:{SECRET}@127.0.0.1"),
        "an id of an event with a line break": lambda: kind().events(since="1\n2"),
    }


# What can be no duration, whether of a turn, of an option or of the client.
NO_DURATIONS = [float("nan"), float("inf"), float("-inf"), -1, -0.001, True, "1", [1]]
DURATIONS = ["lease_seconds", "max_hold_seconds", "ticket_seconds", "queue_seconds", "ready_seconds"]


def wrong_durations(kind: type, scene) -> dict:
    """Uses with what can be no duration."""
    turn = scene.serialize
    uses = {}
    for value in NO_DURATIONS:
        uses[f"patience {value}"] = lambda value=value: kind(patience=value)
        uses[f"timeout {value}"] = lambda value=value: turn(timeout=value)
        uses[f"quiet {value}"] = lambda value=value: scene.until_idle(quiet=value)
        uses[f"animation {value}"] = lambda value=value: turn(animation={"duration": value})
        for name in DURATIONS:
            uses[f"{name} {value}"] = lambda name=name, value=value: turn(**{name: value})
    return uses


def accepted(use) -> bool:
    """Whether a wrong use is not refused, or the refusal gives the secret away."""
    try:
        use()
    except (TypeError, ValueError) as error:
        return SECRET in str(error)
    return True


def raised(event: Event | Exception) -> Event:
    """Raises what has ended a stream."""
    if isinstance(event, Exception):
        raise event
    return event


saying = threading.Lock()


def say(answer: dict) -> None:
    with saying:
        print(json.dumps(answer), flush=True)


def positions(command: dict) -> list[float]:
    """Where the finger of a `flick` is."""
    return [command["fraction"] * step / 20 for step in range(1, 21)]


class Failing(Exception):
    """What a body raises."""


class Agent:
    """Each command has a thread."""

    def __init__(self, arbiter: Arbiter) -> None:
        self.arbiter = arbiter
        self.transitions: dict = {}
        self.gestures: dict = {}
        self.events: dict[str, queue.Queue] = {}
        self.hierarchies: dict = {}

    def run(self) -> None:
        for line in sys.stdin:
            threading.Thread(target=self.answer, args=[json.loads(line)], daemon=True).start()

    def answer(self, command: dict) -> None:
        try:
            result = getattr(self, command["do"])(command)
        except Exception as error:
            result = failure(error)
        say({"n": command["n"], **result})

    def held(self, command: dict, transition) -> dict:
        self.transitions[command["as"]] = transition
        if transition is None:
            return {"transition": None}
        return {"transition": transition.document, "duration": transition.duration}

    def start(self, command):
        return self.held(command, self.arbiter.scene(command["scene"]).start(**given(command.get("options", {}))))

    def serialize(self, command):
        options = given(command.get("options", {}))
        scene = self.arbiter.scene(command["scene"])
        waited: list[dict] = []
        transition = scene.serialize(timeout=command.get("timeout"), waiting=waited.append, **options)
        return {**self.held(command, transition), "waited": waited}

    def complete(self, command):
        return {"transition": self.transitions[command["as"]].complete()}

    def cancel(self, command):
        return {"transition": self.transitions[command["as"]].cancel()}

    def document(self, command):
        return {"transition": self.transitions[command["as"]].document}

    def progress(self, command):
        return {"answer": self.transitions[command["as"]].progress(command["fraction"])}

    def release(self, command):
        return {"answer": self.transitions[command["as"]].release(decision=command.get("decision"))}

    def flick(self, command):
        """Gestures that end before any of their positions is answered."""
        finished = 0
        scene = self.arbiter.scene(command["scene"])
        for _ in range(command["count"]):
            if command["raw"]:
                transition = scene.start(interactive=True)
                for position in positions(command):
                    transition.progress(position)
                decision = transition.release()["decision"]
                finished += decision == "finish"
                transition.complete() if decision == "finish" else transition.cancel()
            else:
                gesture = scene.start_interactive()
                for position in positions(command):
                    gesture.update(position)
                finished += gesture.release(lambda remaining, transition: None)
        return {"finished": finished}

    def drag(self, command):
        scene = self.arbiter.scene(command["scene"])
        self.gestures[command["as"]] = scene.serialize_interactive(
            timeout=command.get("timeout"), **given(command.get("options", {})))
        return {}

    def move(self, command):
        self.gestures[command["as"]].update(command["fraction"])
        return {}

    def letGo(self, command):
        gesture, decision = self.gestures[command["as"]], command.get("decision")
        played = []

        def rest(remaining, transition):
            played.append(transition.decision)
            time.sleep(remaining)

        finished = getattr(gesture, decision or "release")(rest)
        return {**({} if decision else {"finished": finished}), "played": played}

    def granted(self, command):
        return {"transition": self.gestures[command["as"]].granted().document}

    def perform(self, command):
        return {"answer": self.transitions[command["as"]].perform(command.get("operations") or command["operation"], expect=command.get("expect"))}

    def performSegue(self, command):
        """The first example of TransitionLock."""
        lock = TransitionLock(self.arbiter.scene(command["scene"]))
        if not lock.start_transition():
            return {"started": False}
        try:
            return {"removed": lock.perform_segue("mySegue", source="list")}
        finally:
            lock.end_transition()

    def dismissInTurn(self, command):
        """The second one."""
        lock = TransitionLock(self.arbiter.scene(command["scene"]))
        answer = {}

        def block():
            answer["dismissed"] = lock.dismiss("list")
            try:
                answer["again"] = lock.dismiss("list")
            except Refused as refused:
                answer["again"] = refused.code
            lock.transition_complete()
            # A transition of its own, which comes after the one of the block.
            lock.push(command["then"], navigation="nav")

        return {"removed": lock.serialize_transition(block), **answer}

    def loseInTurn(self, command):
        """A block whose transition is lost while its operation is drawn, and that goes on."""
        lock = TransitionLock(self.arbiter.scene(command["scene"]), perform=lambda transition: transition.lost.wait())
        pushed = []

        def block():
            for controller in ("editor", "note"):
                try:
                    lock.push(controller, navigation="nav")
                except TransitionEnded as ended:
                    pushed.append(ended.outcome)

        try:
            return {"turn": lock.serialize_transition(block)}
        except TransitionEnded as ended:
            return {"turn": ended.outcome, "pushed": pushed}

    def startInLock(self, command):
        lock = TransitionLock(self.arbiter.scene(command["scene"]), **given(command.get("options", {})))
        self.transitions[command["as"]] = lock
        return {"started": lock.start_transition()}

    def hold(self, command):
        with self.arbiter.scene(command["scene"]).transition(**given(command.get("options", {}))) as transition:
            for call in command["calls"]:
                getattr(transition, call["do"])(**{name: call[name] for name in call if name != "do"})
        return {}

    def attempt(self, command):
        with suppress(Failing), self.arbiter.scene(command["scene"]).try_transition() as transition:
            if command["fails"]:
                raise Failing
        return {"held": transition is not None}

    def nest(self, command):
        scene = self.arbiter.scene(command["scene"])
        with scene.transition():
            if command.get("gesture"):
                scene.serialize_interactive(timeout=command["timeout"]).finish()
            else:
                with scene.transition(timeout=command["timeout"], wait_for_self=command["waits"]):
                    pass
        return {}

    def drop(self, command):
        del self.transitions[command["as"]]
        gc.collect()
        return {}

    def interrupted(self, command):
        transition = self.transitions[command["as"]]
        transition.interrupted.wait()
        return {"interruption": transition.interruption}

    def lost(self, command):
        transition = self.transitions[command["as"]]
        transition.lost.wait()
        return end_of(transition)

    def ready(self, command):
        return {"transition": self.arbiter.ready(command["id"])}

    def veto(self, command):
        return {"transition": self.arbiter.veto(command["id"], reason=command.get("reason"))}

    def revokeAll(self, command):
        scene = self.arbiter.scene(command["scene"])
        return {"revoked": scene.revoke(reason=command["reason"], client=command.get("client"))}

    def update(self, command):
        return {"transition": self.transitions[command["as"]].update(command["animation"])}

    def addGuard(self, command):
        scene = self.arbiter.scene(command["scene"])
        return {"guard": scene.add_guard(command["controllers"], on_silence=command.get("onSilence", "proceed"))}

    def removeGuard(self, command):
        self.arbiter.scene(command["scene"]).remove_guard(command["id"])
        return {}

    def declare(self, command):
        scene = self.arbiter.scene(command["scene"])
        return {"answer": scene.declare(command["storyboard"], dry_run=command.get("dryRun", False))}

    def untilIdle(self, command):
        scene = self.arbiter.scene(command["scene"])
        return {"answer": scene.until_idle(
            controller=command.get("id"), quiet=command.get("quiet", 0), timeout=command.get("timeout"))}

    def untilController(self, command):
        scene = self.arbiter.scene(command["scene"])
        return {"answer": scene.until_controller(
            command["id"], is_=command.get("is"), not_=command.get("not"), timeout=command.get("timeout"))}

    def controller(self, command):
        return {"answer": self.arbiter.scene(command["scene"]).controller(command["id"])}

    def dryRun(self, command):
        scene = self.arbiter.scene(command["scene"])
        return {"answer": scene.dry_run(command["call"], **given(command.get("options", {})))}

    def patchStoryboard(self, command):
        return {"answer": self.arbiter.scene(command["scene"]).patch_storyboard(command["changes"])}

    def read(self, command):
        return {"answer": self.arbiter.read(command["id"])}

    def listed(self, command):
        query = {name: command[name] for name in ("scene", "state", "limit") if name in command}
        return {"answer": self.arbiter.transitions(**query)}

    def scenes(self, command):
        return {"answer": self.arbiter.scenes()}

    def revoke(self, command):
        return {"answer": self.arbiter.revoke(command["id"], reason=command["reason"])}

    def follow(self, command):
        events = self.events[command["as"]] = queue.Queue()

        def read() -> None:
            try:
                for event in self.followed(command):
                    events.put(event)
            except Exception as error:
                events.put(error)

        threading.Thread(target=read, daemon=True).start()
        return {}

    def followed(self, command):
        if command["scene"] is None:
            return self.arbiter.events()
        return self.arbiter.scene(command["scene"]).events(attached=command.get("attached", False), since="0")

    def next(self, command):
        while (event := raised(self.events[command["as"]].get())).name != command["name"]:
            pass
        return shown(event)

    def hierarchy(self, command):
        hierarchy = self.hierarchies[command["as"]] = self.arbiter.scene(command["scene"]).hierarchy()
        return kept(hierarchy.__enter__().snapshot)

    def revision(self, command):
        return kept(self.first(command, lambda snapshot: snapshot.revision >= command["at"]))

    def current(self, command):
        return kept(self.first(command, lambda snapshot: snapshot.is_current == command["is"]))

    def emptied(self, command):
        return kept(self.first(command, lambda snapshot: snapshot.root is None))

    def first(self, command, condition):
        hierarchy = self.hierarchies[command["as"]]
        if condition(hierarchy.snapshot):
            return hierarchy.snapshot
        return next(snapshot for snapshot in hierarchy.changes() if condition(snapshot))

    def close(self, command):
        self.arbiter.close()
        return {}

    def misuse(self, command):
        def start_what_is_no_json() -> None:
            self.arbiter.scene("misused").start(operation={"type": {SECRET}})

        scene = self.arbiter.scene("misused")
        uses = {
            **wrong_uses(Arbiter), **wrong_durations(Arbiter, scene), "a body that is no JSON": start_what_is_no_json,
            "an infinite number": lambda: scene.serialize(policy={"fraction": float("inf")})}
        return {"accepted": [name for name, use in uses.items() if accepted(use)]}


class AsyncAgent(Agent):
    """Each command has a task."""

    def __init__(self, arbiter: AsyncArbiter) -> None:
        super().__init__(arbiter)
        self.readers: list[asyncio.Task] = []

    async def arun(self) -> None:
        loop = asyncio.get_running_loop()
        tasks = set()
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            task = asyncio.create_task(self.aanswer(json.loads(line)))
            tasks.add(task)
            task.add_done_callback(tasks.discard)

    async def aanswer(self, command: dict) -> None:
        try:
            result = await getattr(self, command["do"])(command)
        except Exception as error:
            result = failure(error)
        say({"n": command["n"], **result})

    async def start(self, command):
        scene = self.arbiter.scene(command["scene"])
        return self.held(command, await scene.start(**given(command.get("options", {}))))

    async def serialize(self, command):
        options = given(command.get("options", {}))
        scene = self.arbiter.scene(command["scene"])
        waited: list[dict] = []
        transition = await scene.serialize(timeout=command.get("timeout"), waiting=waited.append, **options)
        return {**self.held(command, transition), "waited": waited}

    async def complete(self, command):
        return {"transition": await self.transitions[command["as"]].complete()}

    async def cancel(self, command):
        return {"transition": await self.transitions[command["as"]].cancel()}

    async def document(self, command):
        return super().document(command)

    async def progress(self, command):
        return {"answer": await self.transitions[command["as"]].progress(command["fraction"])}

    async def flick(self, command):
        finished = 0
        scene = self.arbiter.scene(command["scene"])
        for _ in range(command["count"]):
            if command["raw"]:
                transition = await scene.start(interactive=True)
                moved = [asyncio.ensure_future(transition.progress(position)) for position in positions(command)]
                decision = (await transition.release())["decision"]
                finished += decision == "finish"
                await (transition.complete() if decision == "finish" else transition.cancel())
                await asyncio.gather(*moved)
            else:
                gesture = await scene.start_interactive()
                for position in positions(command):
                    gesture.update(position)
                finished += await gesture.release(lambda remaining, transition: None)
        return {"finished": finished}

    async def drag(self, command):
        return super().drag(command)

    async def move(self, command):
        return super().move(command)

    async def letGo(self, command):
        gesture, decision = self.gestures[command["as"]], command.get("decision")
        played = []

        async def rest(remaining, transition):
            played.append(transition.decision)
            await asyncio.sleep(remaining)

        finished = await getattr(gesture, decision or "release")(rest)
        return {**({} if decision else {"finished": finished}), "played": played}

    async def granted(self, command):
        return {"transition": (await self.gestures[command["as"]].granted()).document}

    async def release(self, command):
        return {"answer": await self.transitions[command["as"]].release(decision=command.get("decision"))}

    async def perform(self, command):
        transition = self.transitions[command["as"]]
        return {"answer": await transition.perform(command.get("operations") or command["operation"], expect=command.get("expect"))}

    async def performSegue(self, command):
        lock = AsyncTransitionLock(self.arbiter.scene(command["scene"]))
        if not await lock.start_transition():
            return {"started": False}
        try:
            return {"removed": await lock.perform_segue("mySegue", source="list")}
        finally:
            await lock.end_transition()

    async def dismissInTurn(self, command):
        lock = AsyncTransitionLock(self.arbiter.scene(command["scene"]))
        answer = {}

        async def block():
            answer["dismissed"] = await lock.dismiss("list")
            try:
                answer["again"] = await lock.dismiss("list")
            except Refused as refused:
                answer["again"] = refused.code
            lock.transition_complete()
            await lock.push(command["then"], navigation="nav")

        return {"removed": await lock.serialize_transition(block), **answer}

    async def loseInTurn(self, command):
        lock = AsyncTransitionLock(
            self.arbiter.scene(command["scene"]), perform=lambda transition: transition.lost.wait())
        pushed = []
        has_gone_on = asyncio.Event()

        async def block():
            for controller in ("editor", "note"):
                try:
                    await lock.push(controller, navigation="nav")
                except TransitionEnded as ended:
                    pushed.append(ended.outcome)
            has_gone_on.set()

        try:
            return {"turn": await lock.serialize_transition(block)}
        except TransitionEnded as ended:
            await has_gone_on.wait()
            return {"turn": ended.outcome, "pushed": pushed}

    async def startInLock(self, command):
        lock = AsyncTransitionLock(self.arbiter.scene(command["scene"]), **given(command.get("options", {})))
        self.transitions[command["as"]] = lock
        return {"started": await lock.start_transition()}

    async def hold(self, command):
        scene = self.arbiter.scene(command["scene"])
        async with scene.transition(**given(command.get("options", {}))) as transition:
            for call in command["calls"]:
                await getattr(transition, call["do"])(**{name: call[name] for name in call if name != "do"})
        return {}

    async def attempt(self, command):
        with suppress(Failing):
            async with self.arbiter.scene(command["scene"]).try_transition() as transition:
                if command["fails"]:
                    raise Failing
        return {"held": transition is not None}

    async def nest(self, command):
        scene = self.arbiter.scene(command["scene"])
        async with scene.transition():
            if command.get("gesture"):
                await scene.serialize_interactive(timeout=command["timeout"]).finish()
            else:
                async with scene.transition(timeout=command["timeout"], wait_for_self=command["waits"]):
                    pass
        return {}

    async def drop(self, command):
        return super().drop(command)

    async def interrupted(self, command):
        transition = self.transitions[command["as"]]
        await transition.interrupted.wait()
        return {"interruption": transition.interruption}

    async def lost(self, command):
        transition = self.transitions[command["as"]]
        await transition.lost.wait()
        return end_of(transition)

    async def ready(self, command):
        return {"transition": await self.arbiter.ready(command["id"])}

    async def veto(self, command):
        return {"transition": await self.arbiter.veto(command["id"], reason=command.get("reason"))}

    async def revokeAll(self, command):
        scene = self.arbiter.scene(command["scene"])
        return {"revoked": await scene.revoke(reason=command["reason"], client=command.get("client"))}

    async def update(self, command):
        return {"transition": await self.transitions[command["as"]].update(command["animation"])}

    async def addGuard(self, command):
        scene = self.arbiter.scene(command["scene"])
        return {"guard": await scene.add_guard(command["controllers"], on_silence=command.get("onSilence", "proceed"))}

    async def removeGuard(self, command):
        await self.arbiter.scene(command["scene"]).remove_guard(command["id"])
        return {}

    async def awaited(self, answer):
        return {name: await value for name, value in answer.items()}

    async def declare(self, command):
        return await self.awaited(super().declare(command))

    async def untilIdle(self, command):
        return await self.awaited(super().untilIdle(command))

    async def untilController(self, command):
        return await self.awaited(super().untilController(command))

    async def controller(self, command):
        return await self.awaited(super().controller(command))

    async def dryRun(self, command):
        return await self.awaited(super().dryRun(command))

    async def patchStoryboard(self, command):
        return await self.awaited(super().patchStoryboard(command))

    async def read(self, command):
        return await self.awaited(super().read(command))

    async def listed(self, command):
        return await self.awaited(super().listed(command))

    async def scenes(self, command):
        return await self.awaited(super().scenes(command))

    async def revoke(self, command):
        return await self.awaited(super().revoke(command))

    async def follow(self, command):
        events = self.events[command["as"]] = asyncio.Queue()

        async def read() -> None:
            try:
                async for event in self.followed(command):
                    events.put_nowait(event)
            except Exception as error:
                events.put_nowait(error)

        self.readers.append(asyncio.create_task(read()))
        return {}

    async def next(self, command):
        while (event := raised(await self.events[command["as"]].get())).name != command["name"]:
            pass
        return shown(event)

    async def hierarchy(self, command):
        hierarchy = self.hierarchies[command["as"]] = self.arbiter.scene(command["scene"]).hierarchy()
        return kept((await hierarchy.__aenter__()).snapshot)

    async def revision(self, command):
        return kept(await self.first(command, lambda snapshot: snapshot.revision >= command["at"]))

    async def current(self, command):
        return kept(await self.first(command, lambda snapshot: snapshot.is_current == command["is"]))

    async def emptied(self, command):
        return kept(await self.first(command, lambda snapshot: snapshot.root is None))

    async def first(self, command, condition):
        hierarchy = self.hierarchies[command["as"]]
        if condition(hierarchy.snapshot):
            return hierarchy.snapshot
        async for snapshot in hierarchy.changes():
            if condition(snapshot):
                return snapshot

    async def close(self, command):
        await self.arbiter.aclose()
        return {}

    async def misuse(self, command):
        scene = self.arbiter.scene("misused")
        uses = {
            **wrong_uses(AsyncArbiter), **wrong_durations(AsyncArbiter, scene),
            "a body that is no JSON": lambda: scene.start(operation={"type": {SECRET}}),
            "an infinite number": lambda: scene.start(policy={"fraction": float("inf")})}
        wrong = []
        for name, use in uses.items():
            try:
                result = use()
                if asyncio.iscoroutine(result):
                    await result
                wrong.append(name)
            except (TypeError, ValueError) as error:
                if SECRET in str(error):
                    wrong.append(name)
        return {"accepted": wrong}


def main() -> None:
    arguments = [argument for argument in sys.argv[1:] if argument != "--async"]
    url, client, options = arguments[0], arguments[1], json.loads(arguments[2])
    if "--async" in sys.argv:
        async def run() -> None:
            await AsyncAgent(AsyncArbiter(url, client=client, **options)).arun()
        asyncio.run(run())
    else:
        Agent(Arbiter(url, client=client, **options)).run()


main()
