"""The agent of the Python client for Clients/conformance; `--async` drives the one for asyncio."""

import asyncio
import json
import queue
import re
import sys
import threading

from transition_arbiter import (
    Arbiter, AsyncArbiter, Event, Refused, TimedOut, TransitionEnded, Unreachable)


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
        case Unreachable():
            return {"error": "unreachable"}
    raise error


def end_of(transition) -> dict:
    ended = transition.ended or {"outcome": "expired", "reason": "unreachable"}
    return {"outcome": ended["outcome"], "reason": ended.get("reason")}


def shown(event: Event) -> dict:
    return {"event": {"name": event.name, "data": event.data, "id": event.id}}


saying = threading.Lock()


def say(answer: dict) -> None:
    with saying:
        print(json.dumps(answer), flush=True)


class Agent:
    """Each command has a thread."""

    def __init__(self, arbiter: Arbiter) -> None:
        self.arbiter = arbiter
        self.transitions: dict = {}
        self.events: dict[str, queue.Queue] = {}

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
        return {"transition": transition and transition.document}

    def start(self, command):
        return self.held(command, self.arbiter.scene(command["scene"]).start(**given(command.get("options", {}))))

    def serialize(self, command):
        options = given(command.get("options", {}))
        scene = self.arbiter.scene(command["scene"])
        return self.held(command, scene.serialize(timeout=command.get("timeout"), **options))

    def complete(self, command):
        return {"transition": self.transitions[command["as"]].complete()}

    def cancel(self, command):
        return {"transition": self.transitions[command["as"]].cancel()}

    def progress(self, command):
        return {"answer": self.transitions[command["as"]].progress(command["fraction"])}

    def release(self, command):
        return {"answer": self.transitions[command["as"]].release()}

    def lost(self, command):
        transition = self.transitions[command["as"]]
        transition.lost.wait()
        return end_of(transition)

    def ready(self, command):
        return {"transition": self.arbiter.ready(command["id"])}

    def declare(self, command):
        return {"answer": self.arbiter.scene(command["scene"]).declare(command["storyboard"])}

    def follow(self, command):
        events = self.events[command["as"]] = queue.Queue()

        def read() -> None:
            for event in self.arbiter.scene(command["scene"]).events(attached=command.get("attached", False), since="0"):
                events.put(event)

        threading.Thread(target=read, daemon=True).start()
        return {}

    def next(self, command):
        while (event := self.events[command["as"]].get()).name != command["name"]:
            pass
        return shown(event)


class AsyncAgent(Agent):
    """Each command has a task."""

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
        return self.held(command, await scene.serialize(timeout=command.get("timeout"), **options))

    async def complete(self, command):
        return {"transition": await self.transitions[command["as"]].complete()}

    async def cancel(self, command):
        return {"transition": await self.transitions[command["as"]].cancel()}

    async def progress(self, command):
        return {"answer": await self.transitions[command["as"]].progress(command["fraction"])}

    async def release(self, command):
        return {"answer": await self.transitions[command["as"]].release()}

    async def lost(self, command):
        transition = self.transitions[command["as"]]
        await transition.lost.wait()
        return end_of(transition)

    async def ready(self, command):
        return {"transition": await self.arbiter.ready(command["id"])}

    async def declare(self, command):
        return {"answer": await self.arbiter.scene(command["scene"]).declare(command["storyboard"])}

    async def follow(self, command):
        events = self.events[command["as"]] = asyncio.Queue()

        async def read() -> None:
            stream = self.arbiter.scene(command["scene"]).events(attached=command.get("attached", False), since="0")
            async for event in stream:
                events.put_nowait(event)

        self.reader = asyncio.create_task(read())
        return {}

    async def next(self, command):
        while (event := await self.events[command["as"]].get()).name != command["name"]:
            pass
        return shown(event)


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
