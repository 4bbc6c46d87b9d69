"""One of the view processes of the demo: `view.py NAME` does what the view of this name does, for ever."""

import os
import random
import sys
import time
from collections.abc import Callable

from stage import SCENES
from transition_arbiter import Arbiter, ArbiterError, Refused, Scene, operations

# How long an animation takes, in seconds.
SHORT, LONG = (0.4, 1.2), (1.5, 4.0)


def pause(between: tuple[float, float]) -> None:
    time.sleep(random.uniform(*between))


def animate(scene: Scene, operation: dict, seconds: tuple[float, float] = SHORT, **options) -> None:
    with scene.transition(operation=operation, **options) as transition:
        if not transition.noop:
            transition.lost.wait(random.uniform(*seconds))


def browse(arbiter: Arbiter, navigation: str, child: str) -> None:
    """Goes into a stack and out again, and locks no more than that."""
    scene = arbiter.scene("main")
    for number in range(3):
        animate(scene, operations.push(f"{child}-{number}", navigation=navigation), LONG, scope="operation")
        pause(SHORT)
    animate(scene, operations.pop(navigation), scope="operation")
    pause(LONG)
    animate(scene, operations.pop_to_root(navigation), scope="operation")
    pause(LONG)


def mail(arbiter: Arbiter) -> None:
    browse(arbiter, "mail-nav", "letter")


def search(arbiter: Arbiter) -> None:
    browse(arbiter, "search-nav", "result")


def finger(arbiter: Arbiter) -> None:
    """Drags from tab to tab; every other drag is too short, and goes back."""
    by = random.choice([-1, 1])
    transition = arbiter.scene("main").serialize(
        operation=operations.select("tabs", offset=by), interactive=True, animation={"type": "slide"}, queue_seconds=20)
    reach = random.choice([0.3, 0.45, 0.8, 1.0])
    for step in range(1, 21):
        transition.progress(reach * step / 20, velocity=by * reach)
        time.sleep(0.08)
    released = transition.release()
    time.sleep(released.get("remaining", 0))
    (transition.complete if released["decision"] == "finish" else transition.cancel)()
    pause(LONG)


def alert(arbiter: Arbiter) -> None:
    """Needs the whole scene, and two others to be ready."""
    scene = arbiter.scene("main")
    ready = {"participants": [{"client": "clock"}, {"client": "banner"}], "ready_seconds": 2}
    sheet = {"id": "alert", "presentationStyle": "formSheet"}
    animate(scene, operations.present(sheet, presenter="tabs"), SHORT, animation={"type": "star"}, **ready)
    pause(LONG)
    animate(scene, operations.dismiss("alert"), SHORT)
    pause((3, 8))


def participant(preparation: tuple[float, float]) -> Callable[[Arbiter], None]:
    """Takes part in the transitions of others, after it has prepared for so long."""

    def take_part(arbiter: Arbiter) -> None:
        for event in arbiter.scene("main").events(attached=True):
            if event.name == "transition.preparing":
                pause(preparation)
                try:
                    arbiter.ready(event.data["id"])
                except Refused:
                    pass  # It was too late.

    return take_part


def taps(arbiter: Arbiter) -> None:
    """Taps on tabs faster than they change. Of those that wait, only the last counts."""
    scene = arbiter.scene("main")
    index = random.randrange(3)
    animate(scene, operations.select("tabs", index=index), SHORT, coalesce={"key": "tab"}, queue_seconds=30)
    pause((0.1, 4))


def again(arbiter: Arbiter) -> None:
    """Pushes what is on the stack already, which UIKit does not allow."""
    pause((6, 15))
    animate(arbiter.scene("main"), operations.push("inbox", navigation="mail-nav"), scope="operation")


def hurried(arbiter: Arbiter) -> None:
    """Does not wait for long."""
    pause(LONG)
    animate(arbiter.scene("main"), operations.pop("profile-nav"), queue_seconds=0.8)


def crash(arbiter: Arbiter) -> None:
    """Dies while it holds the lock."""
    pause((4, 9))
    arbiter.scene("main").serialize(operation=operations.push("crash-report", navigation="profile-nav"))
    pause(SHORT)
    os._exit(1)


def hanging(arbiter: Arbiter) -> None:
    """Does not come to an end, until the longest time that it may hold its lock is over."""
    pause((15, 25))
    animate(
        arbiter.scene("main"), operations.push("endless", navigation="profile-nav"), (60, 60), scope="operation",
        max_hold_seconds=6)


def cook(arbiter: Arbiter) -> None:
    scene = arbiter.scene("kitchen")
    animate(scene, operations.push(f"order-{random.randrange(100)}", navigation="order"), scope="operation")
    pause(LONG)
    animate(scene, {"type": "collapse", "split": "split"})
    pause(SHORT)
    animate(scene, {"type": "expand", "split": "split"})
    pause(LONG)
    animate(scene, operations.pop_to_root("order"), scope="operation")


VIEWS = {
    "mail": mail, "search": search, "swipe": finger, "alert": alert, "clock": participant((0.1, 0.5)),
    "banner": participant((0.5, 3)), "taps": taps, "again": again, "hurried": hurried, "crash": crash, "hanging": hanging,
    "cook": cook,
}


def main() -> None:
    name = sys.argv[1]
    with Arbiter(client=name) as arbiter:
        for scene, storyboard in SCENES.items():
            try:
                arbiter.scene(scene).declare(storyboard, if_undeclared=True)
            except Refused:
                pass  # Another view was faster.
        while True:
            try:
                VIEWS[name](arbiter)
            except ArbiterError as error:
                # What did not come about is a part of the play.
                print(f"{name:<10}{error}", flush=True)
            pause(SHORT)


main()
