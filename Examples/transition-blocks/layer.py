"""Draws one layer of the transitions that another process drives."""

import asyncio
import sys

from transition_arbiter import AsyncArbiter
from view import say

NAME = sys.argv[1]


def draw(transition: dict, fraction: float) -> None:
    """Stands in for a view that is moved: where it is, and how far the transition is."""
    start, end = transition["animation"]["userInfo"][NAME]
    # A pop is the same animation backward.
    if transition["animation"]["reversed"]:
        start, end = end, start
    filled = round(10 * fraction)
    say(NAME, f"draws    {'#' * filled}{'.' * (10 - filled)} x = {start + (end - start) * fraction:.0f}")


async def play_rest(transition: dict) -> None:
    """Draws from where the finger has left to where the transition was decided to end."""
    interaction = transition["interaction"]
    start, end = interaction["fraction"], 1.0 if interaction["decision"] == "finish" else 0.0
    frames = 4
    for frame in range(1, frames + 1):
        await asyncio.sleep(interaction["remaining"] / frames)
        draw(transition, start + (end - start) * frame / frames)


async def main() -> None:
    running = {}
    async with AsyncArbiter(client=NAME) as arbiter:
        # A participant keeps its session by the stream: if it dies, nobody waits for it.
        async for event in arbiter.scene("main").events(since="0", attached=True):
            match event.name:
                case "transition.preparing":
                    await arbiter.ready(event.data["id"])
                case "transition.running":
                    running = event.data
                case "transition.progress":
                    draw(running, event.data["fraction"])
                case "transition.released":
                    await play_rest(event.data)
                case "transition.ended":
                    say(NAME, f"hears    {event.data['outcome']}")
                case "session.ended" if event.data["client"] == "finger":
                    return


asyncio.run(main())
