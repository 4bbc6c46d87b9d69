"""A view that takes part in the transitions of others: it prepares, says that it is ready, and animates its part."""

import sys
import time

from transition_arbiter import Arbiter, Refused
from view import say

NAME, PREPARATION = sys.argv[1], float(sys.argv[2])
FRAMES = 4

# What each type looks like here; another process may draw the same name in another way.
TYPES = {
    "star": lambda progress: "*" * round(8 * progress),
    "drop": lambda progress: " " * round(8 * progress) + "o",
}


def animate(animation: dict) -> None:
    draw = TYPES[animation["type"]]
    for frame in range(FRAMES + 1):
        progress = frame / FRAMES
        say(NAME, f"{animation['type']:<9}{draw(1 - progress if animation['reversed'] else progress)}")
        if frame < FRAMES:
            time.sleep(animation["duration"] / FRAMES)


def main() -> None:
    with Arbiter(client=NAME) as arbiter:
        # The stream keeps the session of the participant: if this process dies, nobody waits for it.
        for event in arbiter.scene("main").events(since="0", attached=True):
            match event.name:
                case "transition.preparing":
                    say(NAME, f"prepares for {event.data['operation']['type']}")
                    time.sleep(PREPARATION)
                    say(NAME, "ready")
                    try:
                        arbiter.ready(event.data["id"])
                    except Refused as refusal:
                        say(NAME, f"late     {refusal.code}")
                case "transition.running":
                    animate(event.data["animation"])
                case "session.ended" if event.data["client"] == "presenter":
                    return


main()
