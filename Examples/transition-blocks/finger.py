"""Drives transitions by a finger, and ends them as each gesture was decided."""

import asyncio

from transition_arbiter import AsyncArbiter, AsyncScene, operations
from view import say

# The animation as data. The arbiter passes `userInfo` on unread: here, where each layer is at the beginning and at the end.
SLIDE = {"duration": 1, "userInfo": {"list": [0, -100], "detail": [320, 0]}}


async def drag(scene: AsyncScene, operation: dict, path: list[float], velocity: float, **options) -> None:
    # It runs as soon as the layers have said that they are ready to draw.
    transition = await scene.serialize(
        operation=operation, interactive=True, animation=SLIDE, participants=["list", "detail"], ready_seconds=10, **options)
    if transition.noop:
        return say("finger", f"nothing  to {operation['type']}")
    say("finger", f"runs     {operation['type']}")
    for fraction in path:
        say("finger", f"drags    {fraction:.1f}")
        await transition.progress(fraction, velocity=velocity)
        await asyncio.sleep(0.1)
    # Whether it finishes is decided here, once, by its policy. The layers hear it, and play the rest by themselves.
    released = await transition.release()
    say("finger", f"releases {released['interaction']['fraction']:.1f}, {released['decision']}")
    await asyncio.sleep(released["remaining"])
    say("finger", f"ended    {operation['type']}")
    await (transition.complete() if released["decision"] == "finish" else transition.cancel())


async def main() -> None:
    push, pop = operations.push("detail", navigation="nav"), operations.pop("nav")
    async with AsyncArbiter(client="finger") as arbiter:
        scene = arbiter.scene("main")
        await scene.declare({"root": {"id": "nav", "kind": "navigation", "children": ["list"]}})
        # More than a half of the way finishes.
        await drag(scene, push, [0.1, 0.2, 0.4, 0.6, 0.7], velocity=1)
        # Less than a half goes back.
        await drag(scene, pop, [0.1, 0.2, 0.3, 0.2], velocity=-1)
        # A flick is short, and decided by its velocity.
        await drag(scene, pop, [0.1, 0.3], velocity=3, policy={"by": "velocity"})


asyncio.run(main())
