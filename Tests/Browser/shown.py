"""What the daemon's page shows, as a person reads it, and the daemons that it is opened with."""

import json
import os
import signal
import subprocess
import urllib.request
from collections.abc import Callable
from pathlib import Path

from daemon import PATIENCE, Daemon
from playwright.sync_api import Locator, Page, expect

expect.set_options(timeout=PATIENCE * 1000)

OpenPage = Callable[[str], Page]

NAVIGATION = {"root": {"id": "nav", "kind": "navigation", "children": ["list"]}}


class MortalDaemon(Daemon):
    """A daemon that a test kills, and starts again later."""

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.wait(PATIENCE)
        self._process.stdout.close()

    def start_again(self) -> None:
        self._start()


class Shown:
    """The page, opened with a scene."""

    def __init__(self, open_page: OpenPage, daemon: Daemon, query: str = "?scene=main") -> None:
        self.page = open_page(daemon.url + "/" + query)
        self.holder = self.page.locator("#now-holder")
        self.next = self.page.locator("#now-next")
        self.failure = self.page.locator("#now-failure")
        self.status = self.page.locator("#status")
        self.banner = self.page.locator("#banner")
        self.told = self.page.locator("#told")
        self.record = self.page.locator("#record")

    def cards(self, lane: str) -> Locator:
        return self.page.locator(f"#{lane}-cards > .card")

    def card(self, lane: str, client: str) -> Locator:
        return self.cards(lane).filter(has=self.page.locator(".head .plain", has_text=client))

    def row(self, controller: str) -> Locator:
        return self.page.locator(f'.row[data-id="{controller}"][role=treeitem]')

    def hears_only(self, path: str) -> None:
        """From now on the page gets no answers but those of one path: it does not see that the daemon goes away."""
        self.page.evaluate("""path => {
          const { fetch } = window;
          const mended = new Promise(resolve => { window.mend = resolve; });
          window.fetch = async (url, ...rest) => {
            if (!url.endsWith(path)) await mended;
            return fetch(url, ...rest);
          };
        }""", path)

    def hears_everything(self) -> None:
        self.page.evaluate("mend()")

    def drop(self, text: str) -> None:
        """Drops a file onto the page."""
        self.page.evaluate("""text => {
          const data = new DataTransfer();
          data.items.add(new File([text], 'field.jsonl'));
          document.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
        }""", text)

    def is_connected(self) -> None:
        expect(self.status).to_contain_text("Connected to")


def start(daemon: Daemon, client: str, **fields: object) -> dict:
    return daemon.ask("POST", "/transitions/start", {"client": client, "leaseSeconds": 300, **fields})


def queue(daemon: Daemon, client: str, **fields: object) -> dict:
    return daemon.ask("POST", "/transitions/serialize", {"client": client, "ticketSeconds": 300, **fields})


def end(daemon: Daemon, transition: dict, outcome: str = "completed") -> dict:
    return daemon.ask("POST", "/transitions/end", {"id": transition["id"], "token": transition["token"], "outcome": outcome})


def declare(daemon: Daemon, storyboard: dict, scene: str = "main") -> dict:
    return daemon.ask("PUT", f"/scenes/{scene}/storyboard", storyboard)


def push(controller: str, navigation: str = "nav") -> dict:
    return {"type": "push", "navigation": navigation, "controller": controller}


def new_token(access: Path, name: str, *roles: str, scene: str = "*") -> str:
    """A token of a new entry in an access file."""
    options = [word for role in roles for word in ("--role", role)]
    return subprocess.run(
        [os.environ["ARBITERD"], "access", "new", name, *options, "--scene", scene, "--access", access],
        check=True, capture_output=True, text=True, timeout=PATIENCE).stdout.strip()


def recording(daemon: Daemon, scene: str = "main") -> str:
    """The events of a scene as a recording, made here: each line is JSON, and the first says what it is."""
    whole = daemon.ask("GET", f"/scenes/{scene}")
    events = []
    request = urllib.request.Request(f"{daemon.url}/scenes/{scene}/events?since=0")
    with urllib.request.urlopen(request, timeout=PATIENCE) as stream:
        event = {}
        for line in stream:
            name, _, value = line.decode().rstrip("\n").partition(": ")
            if name in ("id", "event"):
                event[name] = value
            elif name == "data":
                events.append({**event, "data": json.loads(value)})
                if event["id"] == str(whole["lastEvent"]):
                    break
    head = {
        "trace": "transition-arbiter", "form": 1, "version": "0.1.0", "scene": scene, "at": events[-1]["data"]["at"],
        "dropped": 0, "scenes": [whole],
    }
    return "".join(json.dumps(line) + "\n" for line in [head, *events])
