"""The windows of the kiosk in a browser."""

import json
import re
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import urljoin

import pytest
from conftest import PATIENCE, Play
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

Ask = Callable[[str, str, object], dict]

expect.set_options(timeout=PATIENCE * 1000)


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context()
    context.set_default_timeout(PATIENCE * 1000)
    yield context
    context.close()


@pytest.fixture
def addresses(begin: Callable[..., Play]) -> list[str]:
    """The addresses of the windows, which the example prints."""
    addresses = []
    for line in begin("kiosk").process.stdout:
        if line.startswith("http://localhost:"):
            addresses.append(line.strip())
        if len(addresses) == 2:
            return addresses
    raise AssertionError("the kiosk does not open")


@pytest.fixture
def windows(addresses: list[str], context: BrowserContext) -> list[Page]:
    windows = [context.new_page() for _ in addresses]
    for window, address in zip(windows, addresses):
        window.goto(address)
        expect(items(window, "Tree").filter(has_text=re.compile("^home$"))).to_have_count(1)
    return windows


@pytest.fixture
def ask(addresses: list[str]) -> Ask:
    """Asks the daemon of the example, as one more process."""
    def send(url: str, method: str = "GET", body: object = None) -> dict:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=PATIENCE) as response:
            return json.load(response)

    daemon = send(urljoin(addresses[0], "daemon.json"))["url"]
    return lambda method, path, body: send(daemon + path, method, body)


@contextmanager
def locked(ask: Ask) -> Iterator[None]:
    """The scene while another process has its lock."""
    held = ask("POST", "/transitions/serialize", {"scene": "kiosk", "client": "test", "leaseSeconds": 300, "wait": 60})
    yield
    ask("POST", "/transitions/end", {name: held[name] for name in ("id", "token")})


def animate_for(ask: Ask, seconds: float) -> None:
    """From now on, transitions that are granted take so long."""
    ask("PATCH", "/scenes/kiosk/storyboard", {"defaults": {"duration": seconds}})


def press(window: Page, name: str) -> None:
    window.get_by_role("button", name=name, exact=True).click()


def items(window: Page, title: str) -> Locator:
    return window.get_by_role("region", name=title).get_by_role("listitem")


def log(window: Page) -> Locator:
    return window.get_by_role("log").get_by_role("listitem")


def expect_pages(window: Page, *names: str) -> None:
    """The pages that windows have pushed."""
    for name in ("left", "right"):
        expect(items(window, "Tree").filter(has_text=re.compile(f"^{name}-"))).to_have_count(names.count(name))


def test_windows_take_turns_and_show_the_same(windows: list[Page], ask: Ask) -> None:
    left, right = windows
    with locked(ask):
        for window, name in ((left, "left"), (right, "right")):
            press(window, "Push a page")
            expect(items(left, "Waiting").filter(has_text=f"{name}: push")).to_have_count(1)
        for window in windows:
            expect(items(window, "Running").filter(has_text="test: lock")).to_have_count(1)
            expect(items(window, "Waiting").filter(has_not_text="clock")).to_have_text(["left: push", "right: push"])
    for window in windows:
        expect(log(window)).to_have_text(["push: completed", "push: runs"])
        expect_pages(window, "left", "right")


def test_a_window_drops_what_is_in_the_way(windows: list[Page], ask: Ask) -> None:
    left, right = windows
    right.get_by_label("drop the event").check()
    with locked(ask):
        press(left, "Push a page")
        press(right, "Push a page")
        expect(log(right)).to_have_text(["push: dropped, another transition is in the way"])
    expect(log(left)).to_have_text(["push: completed", "push: runs"])
    expect_pages(right, "left")


def test_the_windows_see_the_process_in_swift(windows: list[Page], ask: Ask) -> None:
    animate_for(ask, 5)
    for window in windows:
        expect(items(window, "Running").filter(has_text="clock: present")).to_have_count(1)
    for window in windows:
        expect(items(window, "Tree").filter(has_text=re.compile("^clock$"))).to_have_count(1)


def test_a_window_that_is_closed_lets_the_others_go_on(windows: list[Page], ask: Ask) -> None:
    left, right = windows
    with locked(ask):
        press(left, "Push a page")
        expect(items(left, "Waiting").filter(has_text="left: push")).to_have_count(1)
        # If the clock has come first, it would be the clock that holds the lock for so long.
        for ticket in ask("GET", "/scenes/kiosk", None)["queue"]:
            if ticket["client"] == "clock":
                ask("POST", "/transitions/revoke", {"id": ticket["id"], "reason": "a test"})
        animate_for(ask, 600)
    expect(items(right, "Running").filter(has_text="left: push")).to_have_count(1)
    animate_for(ask, 0.1)
    press(right, "Push a page")
    expect(items(right, "Waiting").filter(has_text="right: push")).to_have_count(1)
    left.close()
    expect(log(right)).to_have_text(["push: completed", "push: runs"])
    # The push of the closed window is not applied.
    expect_pages(right, "right")


def test_the_page_can_be_used_without_a_mouse_and_in_the_dark(windows: list[Page]) -> None:
    left, right = windows
    for _ in range(2):
        left.keyboard.press("Tab")
    expect(left.get_by_role("button", name="Push a page")).to_be_focused()
    left.keyboard.press("Enter")
    expect(log(left).filter(has_text="push: runs")).to_have_count(1)

    def ground() -> str:
        return right.evaluate("getComputedStyle(document.documentElement).backgroundColor")

    right.emulate_media(color_scheme="light")
    light = ground()
    right.emulate_media(color_scheme="dark")
    assert ground() != light
