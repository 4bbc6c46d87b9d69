"""Asks for transitions by the names of their types. What they look like is up to those who take part."""

from transition_arbiter import Arbiter, ArbiterError, Scene, operations
from view import say

# The presenter knows the names; the durations belong to the scene, so that all who draw agree.
STORYBOARD = {
    "root": {"id": "nav", "kind": "navigation", "children": ["list"]},
    "transitionTypes": [{"name": "star", "duration": 0.8}, {"name": "drop", "duration": 0.6}],
}


def perform(scene: Scene, operation: dict, *, ready_seconds: float = 30, **options) -> None:
    kind = operation["type"]
    try:
        # It begins when both have said that they are ready, or without those who have not done so in time.
        with scene.transition(
            operation=operation, participants=["list", "card"], ready_seconds=ready_seconds, **options
        ) as transition:
            animation = transition.document["animation"]
            say("presenter", f"runs     {kind} by {animation['type']}, {animation['direction']}")
            for laggard in transition.document["laggards"]:
                say("presenter", f"misses   {laggard}, which was not ready in time")
            # It waits for as long as the animation takes, or until the transition is lost.
            transition.lost.wait(animation["duration"])
            say("presenter", f"ended    {kind}")
    except ArbiterError as error:
        say("presenter", f"gives up {kind}: {error}")


def main() -> None:
    with Arbiter(client="presenter") as arbiter:
        scene = arbiter.scene("main")
        scene.declare(STORYBOARD)
        perform(scene, operations.push("card", navigation="nav"), animation={"type": "star"})
        # The card came by a star, so it goes by one, backward: nobody has to remember that.
        perform(scene, operations.pop("nav"))
        perform(scene, operations.present("card", presenter="list"), animation={"type": "drop"})
        # It is in a hurry, and does not wait for the card.
        perform(scene, operations.dismiss("card"), ready_seconds=0.2)
        # Nobody has declared this one.
        perform(scene, operations.push("card", navigation="nav"), animation={"type": "wobble"})


main()
