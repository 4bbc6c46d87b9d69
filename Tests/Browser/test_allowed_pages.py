"""What pages of an allowed origin can do: everything that a client does."""

import re
from collections.abc import Callable
from pathlib import Path

from daemon import Daemon
from pages import PageServer, Relay
from playwright.sync_api import BrowserContext, Frame, Page

OpenPage = Callable[[str], Page]

# What the events of a transition without participants and operation are called.
EVENTS = ["transition.queued", "transition.running", "transition.ended", "session.ended", "reset"]


def ask(
    page: Page | Frame, daemon: Daemon, method: str, path: str, body: dict | None = None, headers: dict | None = None
) -> dict:
    """Asks from within the page."""
    return page.evaluate("request => ask(...request)", [method, daemon.url + path, body, headers or {}])


def ask_in_the_background(page: Page, daemon: Daemon, method: str, path: str, body: dict | None = None) -> None:
    """Asks from within the page; the answer is what `answer_from_the_background` waits for."""
    page.evaluate("request => askInTheBackground('answer', ...request)", [method, daemon.url + path, body])


def answer_from_the_background(page: Page) -> dict:
    page.wait_for_function("window.answer")
    return page.evaluate("answer")


def start(page: Page, daemon: Daemon, **members: object) -> dict:
    answer = ask(page, daemon, "POST", "/transitions/start", {"client": "kiosk", "leaseSeconds": 300} | members)
    assert answer.get("status") == 201, answer
    return answer["body"]


def end(page: Page, daemon: Daemon, transition: dict) -> dict:
    answer = ask(page, daemon, "POST", "/transitions/end", {name: transition[name] for name in ["id", "token"]})
    assert answer.get("status") == 200, answer
    return answer["body"]


def follow(page: Page, url: str) -> None:
    page.evaluate("([url, names]) => follow(url, ...names)", [url, EVENTS])
    page.wait_for_function("happened.some(entry => entry.event === 'open')")


def wait_for_event(page: Page, name: str, transition: dict) -> None:
    page.wait_for_function(
        "([name, id]) => happened.some(entry => entry.event === name && entry.data.id === id)",
        arg=[name, transition["id"]])


def events(page: Page) -> list[tuple[str, str]]:
    """The names of the events that the page has received, and whose they are."""
    return [
        (entry["event"], entry["data"]["id"]) for entry in page.evaluate("happened")
        if entry["event"] not in ["open", "error"]]


def ids(page: Page) -> list[str]:
    """The ids of these events."""
    return [entry["id"] for entry in page.evaluate("happened") if entry["event"] not in ["open", "error"]]


# Requests


def test_an_allowed_page_starts_a_transition_and_ends_it(allowing: Daemon, kiosk: str, open_page: OpenPage) -> None:
    page = open_page(kiosk)
    transition = start(page, allowing)
    assert re.fullmatch(r"[0-9a-f]{32}", transition["token"])
    assert [(each["id"], each["state"]) for each in allowing.transitions()] == [(transition["id"], "running")]
    assert end(page, allowing, transition)["outcome"] == "completed"
    assert [(each["id"], each["state"]) for each in allowing.transitions()] == [(transition["id"], "ended")]
    assert ask(page, allowing, "GET", f"/transitions/{transition['id']}")["body"]["state"] == "ended"


def test_an_allowed_page_needs_no_preflight_for_a_start_without_a_body(
    allowing: Daemon, kiosk: str, open_page: OpenPage
) -> None:
    answer = ask(open_page(kiosk), allowing, "POST", "/transitions/start")
    assert answer["status"] == 201
    assert allowing.requests() == ["POST /transitions/start 201"]
    assert [each["id"] for each in allowing.transitions()] == [answer["body"]["id"]]


def test_an_allowed_page_reads_who_is_in_the_way(allowing: Daemon, kiosk: str, open_page: OpenPage) -> None:
    held = allowing.ask("POST", "/transitions/start", {"client": "menu", "leaseSeconds": 300})
    before = allowing.state()
    answer = ask(open_page(kiosk), allowing, "POST", "/transitions/start", {}, {"X-Request-Id": "kiosk-1"})
    assert (answer["status"], answer["body"]["code"]) == (409, "busy")
    assert answer["body"]["holder"]["id"] == held["id"]
    assert answer["headers"]["x-request-id"] == "kiosk-1"
    assert allowing.state() == before


def test_an_allowed_page_reads_when_to_try_again(tmp_path: Path, kiosk: str, open_page: OpenPage) -> None:
    with Daemon(tmp_path, "--allow-origin", kiosk, "--max-parked", "1") as daemon:
        page = open_page(kiosk)
        follow(page, f"{daemon.url}/events")
        answer = ask(page, daemon, "POST", "/transitions/serialize", {"wait": 10})
        assert (answer["status"], answer["body"]["code"]) == (503, "too-many-connections")
        assert int(answer["headers"]["retry-after"]) == answer["body"]["retryAfter"]
        assert daemon.transitions() == []


def test_an_allowed_page_reads_what_else_headers_say(allowing: Daemon, kiosk: str, open_page: OpenPage) -> None:
    page = open_page(kiosk)
    answer = ask(page, allowing, "POST", "/livez")
    assert (answer["status"], answer["headers"]["allow"]) == (405, "GET, HEAD")
    answer = ask(page, allowing, "POST", "/sessions/renew", headers={"Arbiter-Session": "0" * 32})
    assert (answer["status"], answer["headers"]["www-authenticate"]) == (401, "Arbiter-Session")
    answer = ask(page, allowing, "POST", "/transitions/serialize", headers={"Prefer": "wait=5"})
    assert (answer["status"], answer["headers"]["preference-applied"]) == (201, "wait=5")


def test_what_an_allowed_page_does_not_declare_as_json_is_refused(
    allowing: Daemon, kiosk: str, open_page: OpenPage
) -> None:
    answer = open_page(kiosk).evaluate(
        "url => outcome(fetch(url, { method: 'POST', body: '{}' }))", f"{allowing.url}/transitions/start")
    assert (answer["status"], answer["body"]["code"]) == (415, "unsupported-media-type")
    assert allowing.state() == ([], [])


def test_an_allowed_page_gets_the_same_transition_with_the_same_key(
    allowing: Daemon, kiosk: str, open_page: OpenPage
) -> None:
    page = open_page(kiosk)
    answers = [
        ask(page, allowing, "POST", "/transitions/start", {}, {"Idempotency-Key": "0123456789-tap-1"})["body"]
        for _ in range(2)]
    assert [answer["token"] for answer in answers] == [answers[0]["token"]] * 2
    assert [each["id"] for each in allowing.transitions()] == [answers[0]["id"]]


# Waiting


def test_a_page_waits_until_another_page_has_ended(allowing: Daemon, kiosk: str, open_page: OpenPage) -> None:
    menu, alert = open_page(kiosk), open_page(kiosk)
    held = start(menu, allowing)
    ask_in_the_background(alert, allowing, "POST", "/transitions/serialize", {"client": "alert", "wait": 60})
    allowing.wait_for_event("transition.queued")
    assert alert.evaluate("window.answer") is None
    end(menu, allowing, held)
    answer = answer_from_the_background(alert)
    assert (answer["status"], answer["body"]["state"]) == (201, "running")
    assert answer["body"]["fence"] == held["fence"] + 1
    assert [(each["client"], each["state"]) for each in allowing.transitions()] == [
        ("kiosk", "ended"), ("alert", "running")]
    assert end(alert, allowing, answer["body"])["state"] == "ended"


def test_a_page_awaits_its_ticket_and_anybodys_transition(allowing: Daemon, kiosk: str, open_page: OpenPage) -> None:
    menu, alert, witness = open_page(kiosk), open_page(kiosk), open_page(kiosk)
    held = start(menu, allowing)
    queued = ask(alert, allowing, "POST", "/transitions/serialize", {"client": "alert"})
    assert (queued["status"], queued["body"]["position"]) == (202, 1)
    ticket = {name: queued["body"][name] for name in ["id", "token"]}
    ask_in_the_background(alert, allowing, "POST", "/transitions/await", ticket | {"wait": 60})
    ask_in_the_background(witness, allowing, "GET", f"/transitions/await?id={held['id']}&until=ended&wait=60")
    end(menu, allowing, held)
    assert answer_from_the_background(alert)["body"]["state"] == "running"
    assert answer_from_the_background(witness)["body"]["outcome"] == "completed"
    assert allowing.ask("GET", f"/transitions/{ticket['id']}")["state"] == "running"


def test_a_page_that_is_closed_gives_its_ticket_up(allowing: Daemon, kiosk: str, open_page: OpenPage) -> None:
    allowing.ask("POST", "/transitions/start", {"client": "menu", "leaseSeconds": 300})
    page = open_page(kiosk)
    ask_in_the_background(page, allowing, "POST", "/transitions/serialize", {"client": "alert", "wait": 60})
    allowing.wait_for_event("transition.queued")
    ticket = allowing.transitions()[1]
    page.close()
    ended = allowing.ask("GET", f"/transitions/await?id={ticket['id']}&until=ended&wait=10")
    assert (ended["outcome"], ended["reason"]) == ("expired", "abandoned")


# The hierarchy


def test_an_allowed_page_changes_a_storyboard_that_is_as_it_knows_it(
    allowing: Daemon, kiosk: str, open_page: OpenPage
) -> None:
    page, path = open_page(kiosk), "/scenes/phone/storyboard"
    storyboard = {"root": {"id": "nav", "kind": "navigation", "children": ["list"]}}
    first = ask(page, allowing, "PUT", path, storyboard)
    assert (first["status"], first["body"]["revision"]) == (200, 1)
    shown = ask(page, allowing, "GET", path)
    assert shown["headers"]["etag"] == first["headers"]["etag"]
    known = {"If-Match": shown["headers"]["etag"]}
    second = ask(page, allowing, "PUT", path, storyboard, known)
    assert (second["status"], second["body"]["revision"]) == (200, 2)
    assert second["headers"]["etag"] != shown["headers"]["etag"]
    late = ask(page, allowing, "PUT", path, storyboard, known)
    assert (late["status"], late["body"]["code"]) == (412, "revision-mismatch")
    assert allowing.ask("GET", "/scenes/phone")["revision"] == 2

    assert ask(page, allowing, "DELETE", "/scenes/phone", headers=known)["status"] == 412
    known = {"If-Match": second["headers"]["etag"]}
    assert ask(page, allowing, "DELETE", "/scenes/phone", headers=known)["status"] == 204
    assert allowing.ask("GET", "/scenes")["scenes"] == []


# Events


def test_an_allowed_page_follows_a_scene_without_a_gap_across_a_cut(
    allowing: Daemon, kiosk: str, open_page: OpenPage
) -> None:
    page = open_page(kiosk)
    with Relay(allowing.port) as relay:
        follow(page, f"{relay.url}/scenes/main/events")
        first = start(page, allowing)
        wait_for_event(page, "transition.running", first)

        # What happens while the stream is cut comes when the browser has found back.
        relay.cut()
        page.wait_for_function("happened.some(entry => entry.event === 'error' && !entry.closed)")
        end(page, allowing, first)
        second = start(page, allowing)
        assert allowing.ask("GET", f"/transitions/{second['id']}")["state"] == "running"
        relay.mend()
        wait_for_event(page, "transition.running", second)

        assert events(page) == [
            ("transition.running", first["id"]), ("transition.ended", first["id"]),
            ("transition.running", second["id"])]
        assert ids(page) == ["1", "2", "3"]
    assert allowing.requests().count("GET /scenes/main/events 200") == 2


def test_an_allowed_page_follows_all_scenes_without_a_gap_across_the_daemons_death(
    tmp_path: Path, kiosk: str, open_page: OpenPage
) -> None:
    page = open_page(kiosk)
    with Daemon(tmp_path, "--allow-origin", kiosk, "--data", str(tmp_path / "data")) as daemon:
        follow(page, f"{daemon.url}/events")
        first = start(page, daemon, scene="phone", leaseSeconds=300)
        wait_for_event(page, "transition.running", first)
        daemon.kill_and_start_again()
        end(page, daemon, first)
        second = start(page, daemon, scene="clock")
        wait_for_event(page, "transition.running", second)
        assert events(page) == [
            ("transition.running", first["id"]), ("transition.ended", first["id"]),
            ("transition.running", second["id"])]
        assert ids(page) == ["c1", "c2", "c3"]
        assert [each["state"] for each in daemon.transitions()] == ["ended", "running"]


def test_a_session_lives_by_the_stream_that_a_page_reads_with_fetch(
    allowing: Daemon, kiosk: str, open_page: OpenPage
) -> None:
    page = open_page(kiosk)
    opened = ask(page, allowing, "POST", "/sessions", {"client": "kiosk", "ttlSeconds": 300})
    assert opened["status"] == 201
    session = {"Arbiter-Session": opened["body"]["token"]}
    assert page.evaluate(
        "([url, headers]) => followWithFetch(url, headers)", [f"{allowing.url}/scenes/main/events", session]) == 200
    bound = ask(page, allowing, "POST", "/transitions/start", {"leaseSeconds": 300}, session)["body"]
    assert bound["session"] == opened["body"]["id"]
    page.wait_for_function(
        "id => received.includes(`event: transition.running\\ndata: {\"id\":\"${id}\"`)", arg=bound["id"])
    assert "id: 1\n" in page.evaluate("received")

    page.close()
    ended = allowing.ask("GET", f"/transitions/await?id={bound['id']}&until=ended&wait=10")
    assert (ended["outcome"], ended["reason"]) == ("expired", "session-lost")


def test_a_page_that_reads_a_stream_with_fetch_resumes_after_what_it_knows(
    allowing: Daemon, kiosk: str, open_page: OpenPage
) -> None:
    page = open_page(kiosk)
    transition = start(page, allowing)
    end(page, allowing, transition)
    assert page.evaluate(
        "([url, headers]) => followWithFetch(url, headers)",
        [f"{allowing.url}/scenes/main/events", {"Last-Event-ID": "1"}]) == 200
    page.wait_for_function("received.includes('id: 2\\nevent: transition.ended\\n')")
    assert "id: 1\n" not in page.evaluate("received")


# Which origins


def expect_refusal(page: Page | Frame, daemon: Daemon) -> None:
    for body in [None, {"client": "kiosk"}]:
        assert ask(page, daemon, "POST", "/transitions/start", body) == {"error": "TypeError"}
    assert daemon.requests() == ["POST /transitions/start 403", "OPTIONS /transitions/start 403"]
    assert daemon.state() == ([], [])


def test_another_port_of_the_allowed_host_is_refused(
    allowing: Daemon, other_pages: PageServer, open_page: OpenPage
) -> None:
    expect_refusal(open_page(other_pages.origin("kiosk.example")), allowing)


def test_another_host_on_the_allowed_port_is_refused(
    allowing: Daemon, pages: PageServer, open_page: OpenPage
) -> None:
    expect_refusal(open_page(pages.origin("evil.example")), allowing)


def test_an_opaque_frame_of_the_allowed_page_is_refused(allowing: Daemon, kiosk: str, open_page: OpenPage) -> None:
    frame = open_page(f"{kiosk}/sandbox").main_frame.child_frames[0]
    frame.wait_for_load_state()
    expect_refusal(frame, allowing)


def test_the_https_variant_of_an_allowed_origin_is_refused(
    tmp_path: Path, secure_pages: PageServer, open_page: OpenPage
) -> None:
    origin = secure_pages.origin("kiosk.example")
    with Daemon(tmp_path, "--allow-origin", origin.replace("https:", "http:")) as daemon:
        expect_refusal(open_page(origin), daemon)


def test_an_https_page_that_is_allowed_can_be_a_client(
    tmp_path: Path, secure_pages: PageServer, open_page: OpenPage
) -> None:
    origin = secure_pages.origin("kiosk.example")
    with Daemon(tmp_path, "--allow-origin", origin) as daemon:
        page = open_page(origin)
        follow(page, f"{daemon.url}/events")
        transition = start(page, daemon)
        wait_for_event(page, "transition.running", transition)
        assert [each["id"] for each in daemon.transitions()] == [transition["id"]]


def test_a_page_of_a_public_site_needs_the_persons_permission_beside_the_daemons(
    tmp_path: Path, public_pages: PageServer, context: BrowserContext, open_page: OpenPage
) -> None:
    origin = public_pages.origin("kiosk.example")
    with Daemon(tmp_path, "--allow-origin", origin) as daemon:
        page = open_page(origin)
        assert ask(page, daemon, "POST", "/transitions/start", {}) == {"error": "TypeError"}
        # The browser has asked nobody but its person, who is not there.
        assert daemon.requests() == []
        context.grant_permissions(["local-network-access"], origin=origin)
        transition = start(page, daemon)
        assert [each["id"] for each in daemon.transitions()] == [transition["id"]]
