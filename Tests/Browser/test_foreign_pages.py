"""What pages of origins that are not allowed can make a browser do, and what they get to know of it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from daemon import Daemon
from pages import PageServer
from playwright.sync_api import BrowserContext, Frame, Page

# The page may have the browser send these without asking the daemon first. Each is given the URL and a body in JSON.
SIMPLE = {
    "no body": "url => outcome(fetch(url, { method: 'POST', mode: 'no-cors' }))",
    "a text": "(url, text) => outcome(fetch(url, { method: 'POST', mode: 'no-cors', body: text }))",
    "a Blob without a type":
        "(url, text) => outcome(fetch(url, { method: 'POST', mode: 'no-cors', body: new Blob([text]) }))",
    "the fields of a form":
        "url => outcome(fetch(url, { method: 'POST', mode: 'no-cors', body: new URLSearchParams({ client: 'x' }) }))",
    "no body, to be read": "url => outcome(fetch(url, { method: 'POST' }))",
    "a text, to be read": "(url, text) => outcome(fetch(url, { method: 'POST', body: text }))",
    "no referrer":
        "url => outcome(fetch(url, { method: 'POST', mode: 'no-cors', referrerPolicy: 'no-referrer' }))",
    "a redirection": "url => outcome(fetch(`/?${url}`, { method: 'POST', mode: 'no-cors' }))",
    "an empty beacon": "url => ({ sent: navigator.sendBeacon(url) })",
    "a beacon with a text": "(url, text) => ({ sent: navigator.sendBeacon(url, text) })",
    "a beacon without a type": "(url, text) => ({ sent: navigator.sendBeacon(url, new Blob([text])) })",
}
# About these the browser asks the daemon first.
ASKED = {
    "JSON": "(url, text) => ask('POST', url, JSON.parse(text))",
    "JSON without a body's type": "url => ask('POST', url, null, { 'Content-Type': 'application/json' })",
    "a session": "url => ask('POST', url, null, { 'Arbiter-Session': '0'.repeat(32) })",
    "a beacon with JSON":
        "(url, text) => ({ sent: navigator.sendBeacon(url, new Blob([text], { type: 'application/json' })) })",
}
# What a page gets to know: of an answer that it may not read, that there is one; otherwise, or of a failure, nothing.
UNREADABLE = [
    {"type": "opaque", "status": 0, "headers": {}, "text": "", "body": None}, {"error": "TypeError"}, {"sent": True}]

BODY = '{"client":"evil","leaseSeconds":300}'


@pytest.fixture(params=["another port", "another site", "a sandboxed frame"])
def foreign(request: pytest.FixtureRequest, pages: PageServer, open_page: Callable[[str], Page]) -> Frame:
    """A page of another origin than the daemon's: of the same site, of another, and of an opaque one."""
    match request.param:
        case "another port":
            return open_page(pages.origin("127.0.0.1")).main_frame
        case "another site":
            return open_page(pages.origin("evil.example")).main_frame
        case _:
            page = open_page(pages.origin("127.0.0.1") + "/sandbox")
            frame = page.main_frame.child_frames[0]
            frame.wait_for_load_state()
            assert frame.evaluate("origin") == "null"
            return frame


def run(frame: Frame, script: str, url: str, text: str = BODY) -> object:
    return frame.evaluate(f"([url, text]) => ({script})(url, text)", [url, text])


def test_a_foreign_page_starts_nothing_by_what_needs_no_preflight(
    daemon: Daemon, foreign: Frame, subtests: pytest.Subtests
) -> None:
    for name, script in SIMPLE.items():
        with subtests.test(name):
            assert run(foreign, script, f"{daemon.url}/transitions/start") in UNREADABLE
            assert daemon.wait_for_request() == ["POST /transitions/start 403"]
            assert daemon.state() == ([], [])


def test_a_foreign_page_starts_nothing_by_what_needs_a_preflight(
    daemon: Daemon, foreign: Frame, subtests: pytest.Subtests
) -> None:
    for name, script in ASKED.items():
        with subtests.test(name):
            assert run(foreign, script, f"{daemon.url}/transitions/start") in UNREADABLE
            assert daemon.wait_for_request() == ["OPTIONS /transitions/start 403"]
            assert daemon.state() == ([], [])


# As a text, this is JSON.
FIELDS = {'{"client":"': 'evil"}'}


@pytest.mark.parametrize("fields", [{}, FIELDS], ids=["empty", "JSON"])
def test_a_form_in_place_of_a_foreign_page_starts_nothing(daemon: Daemon, foreign: Frame, fields: dict) -> None:
    url = f"{daemon.url}/transitions/start"
    foreign.evaluate(
        "([url, fields]) => form(url, fields, { encoding: 'text/plain' }).submit()", [url, fields])
    foreign.wait_for_url(url)
    assert daemon.wait_for_request() == ["POST /transitions/start 403"]
    assert daemon.state() == ([], [])


def test_a_form_in_a_frame_of_a_foreign_page_starts_nothing(
    daemon: Daemon, foreign: Frame, subtests: pytest.Subtests
) -> None:
    url = f"{daemon.url}/transitions/start"
    foreign.evaluate("document.body.append(Object.assign(document.createElement('iframe'), { name: 'inner' }))")
    for encoding in ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data"]:
        for fields in [{}, FIELDS]:
            with subtests.test(encoding=encoding, fields=fields):
                foreign.evaluate(
                    """([url, fields, encoding]) => new Promise(resolve => {
                        document.querySelector("iframe").onload = resolve;
                        form(url, fields, { encoding, target: "inner" }).submit();
                    })""", [url, fields, encoding])
                assert daemon.requests() == ["POST /transitions/start 403"]
                assert daemon.state() == ([], [])
    assert foreign.child_frames[0].url == url
    assert foreign.evaluate("document.querySelector('iframe').contentDocument") is None


def test_a_foreign_page_changes_nothing_that_is_there(daemon: Daemon, foreign: Frame) -> None:
    daemon.ask("PUT", "/scenes/main/storyboard", {"root": {"id": "nav", "kind": "navigation"}})
    held = daemon.ask("POST", "/transitions/start", {"client": "menu", "leaseSeconds": 300})
    waiting = daemon.ask("POST", "/transitions/serialize", {"client": "alert", "queueSeconds": 3600})
    before = daemon.state()

    # Even a page that has learned what only the owner knows.
    for path, body in [
        ("end", f'{{"id":"{held["id"]}","token":"{held["token"]}"}}'),
        ("end", f'{{"id":"{waiting["id"]}","token":"{waiting["token"]}","outcome":"cancelled"}}'),
        ("revoke", f'{{"id":"{held["id"]}","reason":"because"}}'),
    ]:
        for script in [SIMPLE["a text"], SIMPLE["a Blob without a type"], ASKED["JSON"]]:
            assert run(foreign, script, f"{daemon.url}/transitions/{path}", body) in UNREADABLE
    storyboard = f"{daemon.url}/scenes/main/storyboard"
    assert run(foreign, "url => ask('PUT', url, { root: { id: 'evil' } })", storyboard) in UNREADABLE
    assert run(foreign, "url => ask('DELETE', url)", f"{daemon.url}/scenes/main") in UNREADABLE

    assert daemon.requests() == [
        *["POST /transitions/end 403", "POST /transitions/end 403", "OPTIONS /transitions/end 403"] * 2,
        "POST /transitions/revoke 403", "POST /transitions/revoke 403", "OPTIONS /transitions/revoke 403",
        "OPTIONS /scenes/main/storyboard 403", "OPTIONS /scenes/main 403"]
    assert daemon.state() == before


READING = {
    "fetch": ("url => outcome(fetch(url))", UNREADABLE),
    "fetch that does not ask to read": ("url => outcome(fetch(url, { mode: 'no-cors' }))", UNREADABLE),
    "an image": ("src => load(Object.assign(new Image(), { src }))", ["failed"]),
    "a script": ("src => load(Object.assign(document.createElement('script'), { src }))", ["failed"]),
    "a style sheet":
        ("href => load(Object.assign(document.createElement('link'), { rel: 'stylesheet', href }))", ["failed"]),
    "a web socket": (
        "url => new Promise(resolve => Object.assign(new WebSocket(url.replace('http', 'ws')), "
        "{ onopen: () => resolve('open'), onerror: () => resolve('failed') }))", ["failed"]),
}


def test_a_foreign_page_reads_nothing(daemon: Daemon, foreign: Frame, subtests: pytest.Subtests) -> None:
    daemon.ask("POST", "/transitions/start", {"client": "menu", "leaseSeconds": 300})
    before = daemon.state()
    for name, (script, nothing) in READING.items():
        with subtests.test(name):
            assert run(foreign, script, f"{daemon.url}/transitions") in nothing
            assert daemon.requests() == ["GET /transitions 403"]
            assert daemon.state() == before


def test_a_foreign_page_follows_no_events(daemon: Daemon, foreign: Frame, subtests: pytest.Subtests) -> None:
    daemon.ask("POST", "/transitions/start", {"client": "menu"})
    for path in ["/events", "/scenes/main/events"]:
        with subtests.test(path):
            foreign.evaluate("url => follow(url, 'transition.running')", f"{daemon.url}{path}?since=0")
            foreign.wait_for_function("happened.length > 0")
            # The browser gives it up, and does not try again.
            assert foreign.evaluate("happened") == [{"event": "error", "closed": True}]
            assert daemon.requests() == [f"GET {path} 403"]


def test_a_link_on_a_foreign_page_shows_what_the_page_cannot_read(
    daemon: Daemon, pages: PageServer, open_page: Callable[[str], Page]
) -> None:
    daemon.ask("POST", "/transitions/start", {"scene": "phone"})
    page = open_page(pages.origin("evil.example"))
    assert run(page.main_frame, READING["fetch"][0], f"{daemon.url}/scenes") in UNREADABLE
    page.evaluate(
        "href => document.body.append(Object.assign(document.createElement('a'), { href, textContent: 'Scenes' }))",
        f"{daemon.url}/scenes")
    with page.expect_navigation() as navigation:
        page.click("a")
    assert navigation.value.status == 200
    assert '"name":"phone"' in page.inner_text("body")
    assert daemon.requests() == ["GET /scenes 403", "GET /scenes 200"]


def test_a_foreign_page_cannot_look_into_the_frame_that_shows_the_daemon(daemon: Daemon, foreign: Frame) -> None:
    daemon.ask("POST", "/transitions/start", {"scene": "phone"})
    frame = "Object.assign(document.createElement('iframe'), { src })"
    assert foreign.evaluate(f"src => load({frame})", f"{daemon.url}/scenes") == "loaded"
    # Chromium says `Origin: null` even with such a navigation, if an opaque page brings it about.
    if foreign.evaluate("origin") == "null":
        assert daemon.requests() == ["GET /scenes 403"]
    else:
        assert daemon.requests() == ["GET /scenes 200"]
        assert '"name":"phone"' in foreign.child_frames[0].inner_text("body")
    assert foreign.evaluate("document.querySelector('iframe').contentDocument") is None
    assert foreign.evaluate(
        "() => { try { return frames[0].document.body.textContent } catch (error) { return error.name } }"
    ) == "SecurityError"


# Names that a page makes mean the daemon


def test_a_page_whose_name_is_made_to_mean_the_daemon_gets_nothing(
    tmp_path: Path, context: BrowserContext, open_page: Callable[[str], Page]
) -> None:
    with PageServer() as attacker:
        origin = attacker.origin("evil.example")
        page = open_page(origin)
    # From now on the daemon is what the page reaches under its own origin, as after its name was bound anew.
    with Daemon(tmp_path, port=attacker.server_port) as daemon:
        assert page.evaluate("origin") == origin
        for script in [
            "ask('POST', '/transitions/start')", "ask('POST', '/transitions/start', { client: 'evil' })",
            "ask('GET', '/transitions')",
        ]:
            answer = page.evaluate(script)
            assert (answer["type"], answer["status"]) == ("basic", 421)
            assert answer["body"]["code"] == "misdirected-request"
            assert "token" not in answer["body"]
        page.evaluate("follow('/events')")
        page.wait_for_function("happened.length > 0")
        assert page.evaluate("happened") == [{"event": "error", "closed": True}]
        assert page.goto(f"{origin}/openapi.json").status == 421
        assert set(daemon.requests()) == {
            "POST /transitions/start 421", "GET /transitions 421", "GET /events 421", "GET /openapi.json 421"}
        assert daemon.state() == ([], [])


def test_a_foreign_page_gets_nothing_from_the_daemon_under_another_name(
    daemon: Daemon, pages: PageServer, open_page: Callable[[str], Page]
) -> None:
    page = open_page(pages.origin("evil.example"))
    url = f"http://evil.example:{daemon.port}/transitions/start"
    assert run(page.main_frame, SIMPLE["no body"], url) in UNREADABLE
    assert run(page.main_frame, ASKED["JSON"], url) in UNREADABLE
    # The browser tries once more on another connection, as 421 lets it.
    assert set(daemon.requests()) == {"POST /transitions/start 421", "OPTIONS /transitions/start 421"}
    assert daemon.state() == ([], [])
