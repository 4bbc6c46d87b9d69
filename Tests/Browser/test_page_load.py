"""The daemon's own page under load: many transitions, many controllers, many clients."""

import http.client
import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from daemon import PATIENCE, Daemon
from playwright.sync_api import Page, expect
from shown import OpenPage, Shown, declare, end, push, queue, start

# How many transitions begin and end, and in how many seconds, if the machine is not busy.
LOAD_SECONDS = float(os.environ.get("PAGE_LOAD_SECONDS", "10"))
RATE = 200
CLIENTS = 4
# How much its heap may grow, in bytes.
HEAP_GROWTH = 24_000_000


class Contender(threading.Thread):
    """Begins and ends transitions on a connection of its own, at a rate."""

    def __init__(self, daemon: Daemon, number: int, seconds: float) -> None:
        super().__init__()
        self._port = daemon.port
        self._number = number
        self._seconds = seconds

    def run(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE)
        begin = time.monotonic()
        for number in range(int(self._seconds * RATE / CLIENTS)):
            # A pace, not a synchronisation: what is late is caught up.
            time.sleep(max(0.0, begin + number * CLIENTS / RATE - time.monotonic()))
            body = {"client": f"client-{self._number}", "scope": [f"c-{self._number}"]}
            transition = self._post(connection, "start", body)
            self._post(connection, "end", {"id": transition["id"], "token": transition["token"]})
        connection.close()

    @staticmethod
    def _post(connection: http.client.HTTPConnection, call: str, body: dict) -> dict:
        connection.request("POST", f"/transitions/{call}", json.dumps(body), {"Content-Type": "application/json"})
        response = connection.getresponse()
        document = json.load(response)
        assert response.status < 300, document
        return document


@contextmanager
def load(daemon: Daemon, seconds: float) -> Iterator[None]:
    contenders = [Contender(daemon, number, seconds) for number in range(CLIENTS)]
    for each in contenders:
        each.start()
    yield
    for each in contenders:
        each.join()


def heap(page: Page) -> int:
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    used = session.send("Runtime.getHeapUsage")["usedSize"]
    session.detach()
    return used


def test_200_transitions_a_second_do_not_grow_the_page(daemon: Daemon, open_page: OpenPage) -> None:
    declare(daemon, {"root": {"id": "tabs", "kind": "tabs", "children": [f"c-{each}" for each in range(CLIENTS)]}})
    shown = Shown(open_page, daemon)
    shown.is_connected()
    # Until its lists are full, they grow.
    with load(daemon, LOAD_SECONDS):
        pass
    expect(shown.cards("running")).to_have_count(0)
    before = heap(shown.page)
    with load(daemon, LOAD_SECONDS):
        pass
    start(daemon, "last")
    expect(shown.holder).to_contain_text("last has held")
    growth = heap(shown.page) - before
    assert growth < HEAP_GROWTH
    assert shown.cards("ended").count() <= 40
    assert shown.page.locator("*").count() < 2000


def test_a_tree_of_5000_controllers_stays_usable(daemon: Daemon, open_page: OpenPage) -> None:
    stacks = [
        {"id": f"nav-{each}", "kind": "navigation", "children": [f"view-{each}-{number}" for number in range(49)]}
        for each in range(100)]
    declare(daemon, {"root": {"id": "tabs", "kind": "tabs", "children": stacks}})
    shown = Shown(open_page, daemon)
    expect(shown.page.locator("#tree-note")).to_contain_text("5,001 controllers")
    # What is not in sight is no element.
    assert shown.page.locator(".row").count() < 100
    shown.row("tabs").focus()
    shown.page.keyboard.press("End")
    expect(shown.row("view-99-48")).to_be_focused()
    expect(shown.row("view-99-48")).to_be_in_viewport()
    expect(shown.row("view-99-48")).to_have_attribute("aria-setsize", "49")
    end(daemon, start(daemon, "menu", operation=push("new", "nav-99")))
    expect(shown.row("new")).to_contain_text("top")
    shown.page.keyboard.press("Home")
    shown.page.keyboard.press("ArrowLeft")
    expect(shown.page.locator(".row")).to_have_count(1)
    shown.page.keyboard.press("ArrowRight")
    expect(shown.row("nav-0")).to_be_visible()


def test_hundreds_of_tickets_are_counted_and_a_few_are_shown(daemon: Daemon, open_page: OpenPage) -> None:
    start(daemon, "menu")
    for number in range(150):
        queue(daemon, f"client-{number}")
    shown = Shown(open_page, daemon)
    expect(shown.page.locator("#waiting-note")).to_have_text("150 tickets wait in order. 110 of them are not shown.")
    expect(shown.cards("waiting")).to_have_count(40)
    expect(shown.next).to_contain_text("After it 149 more tickets wait.")
    # Those that come first, and not those that came last.
    expect(shown.next).to_contain_text("client-0 has waited")
    expect(shown.cards("waiting").first.locator(".plain")).to_have_text("1.\u00a0client-0")
    expect(shown.cards("waiting").last.locator(".plain")).to_have_text("40.\u00a0client-39")
    expect(shown.card("running", "menu")).to_contain_text("100 tickets or more are behind it")


def test_the_first_of_hundreds_is_next_whatever_is_heard_first(daemon: Daemon, open_page: OpenPage) -> None:
    shown = Shown(open_page, daemon)
    first = shown.page.evaluate("""async () => {
      const { SceneModel } = await import('/page/model.js');
      const model = new SceneModel('main');
      const ticket = number => ({
        id: `t-${number}`, scope: 'scene', state: 'queued', requestedAt: new Date(1000 * Math.floor(number / 200)).toISOString(),
      });
      for (let number = 299; number > 99; number -= 1) model.take(ticket(number));
      const queue = Array.from({ length: 100 }, (_, index) => ({ ...ticket(index), position: index + 1 }));
      model.takeUnfinished({ running: [], queue, runningCount: 0, queuedCount: 300, lastEvent: 0 });
      return [model.queued.length, ...model.queued.slice(0, 3).map(({ id }) => id)];
    }""")
    assert first == [300, "t-0", "t-1", "t-2"]
