"""Plays the same short piece each time, and then stands still for a picture. Ends with its standard input."""

import os
import sys
import time

import httpx
from stage import SCENES

http = httpx.Client(base_url=os.environ["ARBITER_URL"])


def ask(path: str, body: dict, *, session: str = "") -> dict:
    answer = http.post(path, json=body, headers={"Arbiter-Session": session} if session else {})
    answer.raise_for_status()
    return answer.json()


def request(client: str, operation: dict | None = None, *, session: str = "", **fields: object) -> dict:
    """Takes a place in the queue, or the lock."""
    body = {"client": client, "leaseSeconds": 60, "ticketSeconds": 600, **fields}
    return ask("/transitions/serialize", body | ({"operation": operation} if operation else {}), session=session)


def end(transition: dict, outcome: str = "completed") -> None:
    ask("/transitions/end", {"id": transition["id"], "token": transition["token"], "outcome": outcome})


def drag(transition: dict, *path: float) -> None:
    for fraction in path:
        ask("/transitions/progress", {"id": transition["id"], "token": transition["token"], "fraction": fraction})
        time.sleep(0.2)


def push(controller: str, navigation: str) -> dict:
    return {"type": "push", "navigation": navigation, "controller": controller}


def select(index: int) -> dict:
    return {"type": "select", "tabs": "tabs", "index": index}


def present(controller: str) -> dict:
    return {"type": "present", "presenter": "tabs", "controller": {"id": controller, "presentationStyle": "formSheet"}}


def play() -> None:
    for scene, storyboard in SCENES.items():
        http.put(f"/scenes/{scene}/storyboard", json=storyboard).raise_for_status()
    end(ask("/transitions/start", {"client": "cook", "scene": "kitchen", "operation": push("order-7", "order")}))
    clock = ask("/sessions", {"client": "clock", "ttlSeconds": 3600})["token"]

    # Two stacks change side by side, and a finger waits for both.
    mail = request("mail", push("letter-1", "mail-nav"), scope="operation")
    search = request("search", push("result-1", "search-nav"), scope="operation")
    finger = request("swipe", select(1), interactive=True)
    time.sleep(1.2)
    end(mail)
    time.sleep(0.9)
    end(search)
    drag(finger, 0.1, 0.2, 0.35, 0.3, 0.2)
    ask("/transitions/release", {"id": finger["id"], "token": finger["token"]})
    end(finger, "cancelled")

    # A sheet comes when the clock is ready. Meanwhile somebody cannot wait, and somebody wants the impossible.
    alert = request("alert", present("alert"), participants=["clock"], readySeconds=20)
    hurried = request("hurried", {"type": "pop", "navigation": "profile-nav"}, queueSeconds=0.8)
    again = request("again", push("inbox", "mail-nav"))
    time.sleep(1.1)
    ask("/transitions/ready", {"id": alert["id"]}, session=clock)
    time.sleep(1)
    end(alert)
    assert (hurried["state"], again["state"]) == ("queued", "queued")

    # Of three taps, the last one counts.
    mail = request("mail", push("letter-2", "mail-nav"), scope="operation")
    taps = [request("taps", select(index), coalesce={"key": "tab"}) for index in (0, 2, 1)]
    time.sleep(1.3)
    end(mail)
    time.sleep(0.8)
    end(taps[-1])

    # A process dies while it holds the lock.
    dying = ask("/sessions", {"client": "crash", "ttlSeconds": 1})["token"]
    request("crash", push("crash-report", "profile-nav"), session=dying)
    time.sleep(1.6)

    # And now: a finger in one stack, a participant that is missing in another, and those who wait for them.
    drag(request("mail", push("letter-3", "mail-nav"), scope="operation", interactive=True), 0.1, 0.25, 0.4, 0.62)
    search = request("search", push("result-2", "search-nav"), scope="operation", participants=["clock", "banner"], readySeconds=20)
    ask("/transitions/ready", {"id": search["id"]}, session=clock)
    time.sleep(0.6)
    request("swipe", select(2), interactive=True)
    time.sleep(1)
    request("taps", select(0), coalesce={"key": "tab"}, queueSeconds=30)
    time.sleep(0.7)
    request("reader", {"type": "pop", "navigation": "search-nav"}, scope="operation")
    time.sleep(1.5)


play()
print("still", flush=True)
sys.stdin.read()
