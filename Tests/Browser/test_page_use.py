"""The daemon's own page: what can be done with it, by mouse, by keyboard, and by those who do not see it."""

import json
import re
import urllib.request
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest
from axe_playwright_python.sync_playwright import Axe
from daemon import PATIENCE, Daemon
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect
from shown import NAVIGATION, MortalDaemon, OpenPage, Shown, declare, end, push, queue, recording, start


def is_focused(locator: Locator) -> None:
    expect(locator).to_be_focused()


@pytest.fixture
def busy(daemon: Daemon) -> Daemon:
    """A daemon with something in every part of the page."""
    declare(daemon, {"root": {"id": "tabs", "kind": "tabs", "children": [NAVIGATION["root"], "other"]}})
    end(daemon, start(daemon, "first", operation=push("editor")))
    dismissed = {"type": "present", "presenter": "nav", "controller": {"id": "sheet", "presentationStyle": "formSheet"}}
    end(daemon, start(daemon, "second", operation=dismissed))
    failing = start(daemon, "failing")
    daemon.ask("POST", "/transitions/revoke", {"id": failing["id"], "reason": "a test"})
    start(daemon, "menu", interactive=True, participants=["clock"], readySeconds=60)
    queue(daemon, "alert", coalesce={"key": "alerts"})
    queue(daemon, "tabs")
    return daemon


# Transitions from the page

def test_a_transition_is_started_and_ended_from_the_page(daemon: Daemon, open_page: OpenPage) -> None:
    declare(daemon, NAVIGATION)
    shown = Shown(open_page, daemon)
    shown.page.get_by_role("button", name="Start a transition…").click()
    dialog = shown.page.get_by_role("dialog", name="Start a transition")
    dialog.get_by_label("Operation").select_option("push")
    dialog.get_by_label("Controller", exact=True).fill("list")
    dialog.get_by_label("Stack").fill("nav")
    # It is checked as one types.
    expect(dialog.get_by_role("status")).to_contain_text("more than once which is not supported")
    dialog.get_by_label("Controller", exact=True).fill("editor")
    expect(dialog.get_by_role("status")).to_have_text("It would run at once. editor would come.")
    dialog.get_by_role("button", name="Ask for the lock").click()
    expect(shown.holder).to_contain_text("page has held the lock of nav")
    shown.card("running", "page").get_by_role("button", name="End it").click()
    expect(shown.card("ended", "page")).to_contain_text("Its owner finished: editor came.")
    assert [each["outcome"] for each in daemon.transitions()] == ["completed"]


def test_a_ticket_is_given_up_and_a_lock_cancelled_from_the_page(daemon: Daemon, open_page: OpenPage) -> None:
    menu = start(daemon, "menu")
    shown = Shown(open_page, daemon)
    for outcome in ["Give it up", "Cancel it"]:
        shown.page.get_by_role("button", name="Start a transition…").click()
        dialog = shown.page.get_by_role("dialog", name="Start a transition")
        expect(dialog.get_by_role("status")).not_to_be_empty()
        dialog.get_by_role("button", name="Ask for the lock").click()
        lane = "waiting" if outcome == "Give it up" else "running"
        shown.card(lane, "page").get_by_role("button", name=outcome).click()
        expect(shown.card("ended", "page").first).to_contain_text("Its owner gave it up.")
        if outcome == "Give it up":
            end(daemon, menu)
            expect(shown.card("ended", "menu")).to_be_visible()


def test_why_a_transition_did_not_begin_is_said(daemon: Daemon, open_page: OpenPage) -> None:
    menu = start(daemon, "menu")
    shown = Shown(open_page, daemon)
    shown.page.get_by_role("button", name="Start a transition…").click()
    dialog = shown.page.get_by_role("dialog", name="Start a transition")
    dialog.get_by_label("If another one is in the way").select_option("drop")
    expect(dialog.get_by_role("status")).to_have_text("menu is in the way, so nothing would be done.")
    dialog.get_by_role("button", name="Ask for the lock").click()
    expect(shown.told).to_contain_text("Another transition is in the way, so nothing was done.")
    # It does not outlive the next attempt.
    end(daemon, menu)
    shown.page.get_by_role("button", name="Start a transition…").click()
    expect(shown.told).to_be_empty()
    dialog.get_by_role("button", name="Ask for the lock").click()
    expect(shown.holder).to_contain_text("page has held")
    expect(shown.told).to_be_empty()


def test_a_fourth_transition_does_not_lose_what_was_typed(daemon: Daemon, open_page: OpenPage) -> None:
    shown = Shown(open_page, daemon)
    dialog = shown.page.get_by_role("dialog", name="Start a transition")
    for number in range(4):
        shown.page.get_by_role("button", name="Start a transition…").click()
        dialog.get_by_label("As the client").fill(f"mine-{number}")
        dialog.get_by_role("button", name="Ask for the lock").click()
        if number < 3:
            lane = "waiting" if number else "running"
            expect(shown.card(lane, f"mine-{number}").get_by_role("button").nth(1)).to_be_visible()
    expect(dialog.get_by_role("status")).to_have_text("This page has 3 transitions already: end one of them first.")
    expect(dialog.get_by_label("As the client")).to_have_value("mine-3")
    dialog.get_by_label("As the client").fill("")
    expect(dialog.get_by_role("status")).to_have_text("Something is missing above.")


def test_what_is_asked_for_while_the_daemon_is_gone_is_said(tmp_path: Path, open_page: OpenPage) -> None:
    with MortalDaemon(tmp_path, "--data", str(tmp_path / "journal")) as daemon:
        shown = Shown(open_page, daemon)
        shown.page.get_by_role("button", name="Start a transition…").click()
        shown.page.get_by_label("Lease, in seconds").fill("300")
        shown.page.get_by_role("button", name="Ask for the lock").click()
        expect(shown.holder).to_contain_text("page has held")
        # The page has not yet seen that the daemon goes away, and so its buttons act.
        shown.hears_only("/transitions/end")
        daemon.kill()
        shown.card("running", "page").get_by_role("button", name="End it").click()
        expect(shown.told).to_contain_text("The transition ends as soon as the daemon is there again")
        shown.hears_everything()
        daemon.start_again()
        expect(shown.card("ended", "page")).to_contain_text("Its owner finished.")
        expect(shown.told).to_be_empty()


def test_the_buttons_keep_their_places_when_a_scene_comes_into_being(daemon: Daemon, open_page: OpenPage) -> None:
    shown = Shown(open_page, daemon)
    button = shown.page.get_by_role("button", name="Start a transition…")
    save = shown.page.get_by_role("button", name="Save a recording")
    expect(button).to_be_visible()
    expect(save).to_be_disabled()
    before = button.bounding_box()
    start(daemon, "menu")
    expect(save).to_be_enabled()
    assert button.bounding_box() == before


def test_the_page_stands_still_while_the_daemon_is_gone(tmp_path: Path, open_page: OpenPage) -> None:
    with MortalDaemon(tmp_path, "--data", str(tmp_path / "journal")) as daemon:
        shown = Shown(open_page, daemon)
        declare(daemon, {"root": {"id": "tabs", "kind": "tabs", "children": ["first", "second"]}})
        shown.page.get_by_role("button", name="Start a transition…").click()
        dialog = shown.page.get_by_role("dialog", name="Start a transition")
        dialog.get_by_label("Lease, in seconds").fill("300")
        dialog.get_by_label("Locks").select_option("controllers")
        dialog.get_by_label("Controllers").fill("first")
        shown.page.get_by_role("button", name="Ask for the lock").click()
        expect(shown.holder).to_contain_text("page has held")
        start(daemon, "menu", scope=["second"])
        expect(shown.card("running", "page").get_by_role("button", name="End it")).to_be_enabled()
        expect(shown.card("running", "menu").get_by_role("button", name="Revoke")).to_be_enabled()
        daemon.kill()
        expect(shown.status).to_have_text("Not connected")
        expect(shown.card("running", "page").get_by_role("button", name="End it")).to_be_disabled()
        expect(shown.card("running", "menu").get_by_role("button", name="Revoke")).to_be_disabled()
        # Ten minutes later, and after everything has been drawn again, it says the same.
        before, after = shown.page.evaluate("""async () => {
          const before = document.getElementById('lanes').innerText;
          const { now } = Date;
          Date.now = () => now() + 600_000;
          await new Promise(resolve => { setTimeout(resolve, 1000); });
          Date.now = now;
          return [before, document.getElementById('lanes').innerText];
        }""")
        assert before == after
        daemon.start_again()
        expect(shown.card("running", "page").get_by_role("button", name="End it")).to_be_enabled()


def test_the_name_on_a_card_is_not_broken_by_its_buttons(daemon: Daemon, open_page: OpenPage) -> None:
    shown = Shown(open_page, daemon)
    shown.page.set_viewport_size({"width": 1440, "height": 980})
    shown.page.get_by_role("button", name="Start a transition…").click()
    shown.page.get_by_role("button", name="Ask for the lock").click()
    name = shown.card("running", "page").locator(".head .plain")
    expect(shown.card("running", "page").get_by_role("button", name="Cancel it")).to_be_visible()
    assert name.evaluate("button => button.getBoundingClientRect().height") < 30


def test_the_lock_is_taken_from_a_client(daemon: Daemon, open_page: OpenPage) -> None:
    start(daemon, "menu")
    shown = Shown(open_page, daemon)
    shown.card("running", "menu").get_by_role("button", name="Revoke").click()
    dialog = shown.page.get_by_role("dialog", name="Revoke a transition")
    dialog.get_by_label("Reason").fill("  ")
    dialog.get_by_role("button", name="Revoke it").click()
    expect(dialog.get_by_role("status")).to_have_text("It needs a reason.")
    dialog.get_by_label("Reason").fill("the menu hangs")
    dialog.get_by_role("button", name="Revoke it").click()
    expect(shown.failure).to_contain_text("menu was revoked")
    expect(shown.failure).to_contain_text("An administrator took it away: “the menu hangs”.")


def test_a_storyboard_is_checked_while_it_is_typed_and_declared(daemon: Daemon, open_page: OpenPage) -> None:
    shown = Shown(open_page, daemon)
    shown.page.get_by_role("button", name="Declare a scene…").click()
    dialog = shown.page.get_by_role("dialog", name="Declare a scene")
    text, check = dialog.get_by_label("Storyboard, as JSON"), dialog.get_by_role("status")
    expect(check).to_contain_text("Correct: 2 controllers, 1 segue, 1 transition type.")
    text.fill('{"root":{"id":"nav","kind":"nothing"}}')
    expect(check).to_contain_text("kind")
    expect(dialog.get_by_role("button", name="Declare it")).to_be_disabled()
    text.fill('{\n  "root":')
    expect(check).to_contain_text(re.compile("not valid JSON.* at line 2, column "))
    text.fill(json.dumps(NAVIGATION))
    expect(check).to_contain_text("Correct: 2 controllers, 0 segues")
    dialog.get_by_label("Scene", exact=True).fill("")
    expect(check).to_have_text("The scene needs a name.")
    dialog.get_by_label("Scene", exact=True).fill("kiosk")
    dialog.get_by_role("button", name="Declare it").click()
    expect(shown.row("list")).to_contain_text("visible")
    assert daemon.ask("GET", "/scenes/kiosk")["revision"] == 1


def test_a_storyboard_that_another_window_has_changed_is_not_replaced(daemon: Daemon, open_page: OpenPage) -> None:
    windows = [Shown(open_page, daemon) for _ in range(2)]
    dialogs = []
    for shown in windows:
        shown.page.get_by_role("button", name="Declare a scene…").click()
        dialogs.append(shown.page.get_by_role("dialog", name="Declare a scene"))
        expect(dialogs[-1].get_by_role("button", name="Declare it")).to_be_enabled()
    dialogs[0].get_by_role("button", name="Declare it").click()
    expect(windows[0].told).to_contain_text("The scene main is declared.")
    dialogs[1].get_by_label("Storyboard, as JSON").fill(json.dumps({"root": "other"}))
    expect(dialogs[1].get_by_role("status")).to_contain_text("Correct: 1 controller")
    dialogs[1].get_by_role("button", name="Declare it").click()
    expect(dialogs[1].get_by_role("status")).to_contain_text("has changed since it was read here")
    assert daemon.ask("GET", "/scenes/main")["revision"] == 1
    dialogs[1].get_by_role("button", name="Read it again").click()
    expect(dialogs[1].get_by_label("Storyboard, as JSON")).to_have_value(re.compile('"list"'))
    dialogs[1].get_by_label("Storyboard, as JSON").fill(json.dumps({"root": "other"}))
    dialogs[1].get_by_role("button", name="Declare it").click()
    expect(windows[1].row("other")).to_be_visible()


# The past

def test_an_earlier_revision_is_shown_with_what_changed(daemon: Daemon, open_page: OpenPage) -> None:
    declare(daemon, NAVIGATION)
    for controller in ["editor", "preview"]:
        end(daemon, start(daemon, "menu", operation=push(controller)))
    shown = Shown(open_page, daemon)
    expect(shown.row("preview")).to_be_visible()
    shown.page.get_by_role("button", name="One revision back").click()
    expect(shown.row("preview")).to_have_count(0)
    expect(shown.row("editor")).to_contain_text("top · visible")
    expect(shown.page.locator("#changes")).to_contain_text("by menu")
    expect(shown.page.locator("#changes")).to_contain_text("editor came on top of nav")
    # What happens meanwhile does not take one away from there.
    end(daemon, start(daemon, "menu", operation=push("last")))
    expect(shown.cards("ended")).to_have_count(3)
    expect(shown.row("last")).to_have_count(0)
    shown.page.get_by_role("button", name="Back to now").click()
    expect(shown.row("last")).to_contain_text("visible")


def is_the_recording(shown: Shown) -> None:
    expect(shown.banner).to_contain_text("This is a recording, not a daemon.")
    expect(shown.holder).to_contain_text("menu has held the lock of the whole scene")
    expect(shown.next).to_contain_text("alert has waited")
    expect(shown.failure).to_contain_text("failing was revoked")
    expect(shown.row("sheet")).to_contain_text("presented as form sheet")
    expect(shown.page.get_by_role("button", name="Start a transition…")).to_be_hidden()
    expect(shown.page.get_by_role("button", name="Revoke")).to_have_count(0)
    shown.page.get_by_role("button", name="One revision back").click()
    expect(shown.row("sheet")).to_have_count(0)


def test_a_recording_is_opened_by_its_path(busy: Daemon, open_page: OpenPage, context: BrowserContext) -> None:
    text = recording(busy)
    context.route(busy.url + "/recording.jsonl", lambda route: route.fulfill(body=text, content_type="application/jsonl"))
    busy.requests()
    shown = Shown(open_page, busy, "?trace=/recording.jsonl")
    is_the_recording(shown)
    # No daemon is asked for anything but the page.
    assert {request for request in busy.requests() if "page" not in request and "client.js" not in request} <= {"GET / 200"}


@pytest.mark.parametrize("path", ["/scenes/main/trace", "/trace"])
def test_a_trace_of_the_daemon_is_a_recording(busy: Daemon, open_page: OpenPage, path: str) -> None:
    is_the_recording(Shown(open_page, busy, f"?scene=main&trace={quote(path)}"))


def test_a_recording_is_dropped_onto_the_page(busy: Daemon, open_page: OpenPage) -> None:
    shown = Shown(open_page, busy, "")
    shown.is_connected()
    shown.drop(recording(busy))
    is_the_recording(shown)


def test_a_recording_is_chosen_as_a_file(busy: Daemon, open_page: OpenPage, tmp_path: Path) -> None:
    file = tmp_path / "field.jsonl"
    file.write_text(recording(busy))
    shown = Shown(open_page, busy, "")
    shown.is_connected()
    shown.page.locator("#recording-file").set_input_files(file)
    is_the_recording(shown)


def test_a_recording_is_saved_and_opened_again(busy: Daemon, open_page: OpenPage, tmp_path: Path) -> None:
    shown = Shown(open_page, busy)
    shown.is_connected()
    with shown.page.expect_download() as download:
        shown.page.get_by_role("button", name="Save a recording").click()
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    assert file.name == "main.jsonl"
    shown.page.locator("#recording-file").set_input_files(file)
    is_the_recording(shown)


def test_a_recording_that_begins_late_says_so(busy: Daemon, open_page: OpenPage, tmp_path: Path) -> None:
    head, _, *events = recording(busy).splitlines()
    file = tmp_path / "late.jsonl"
    file.write_text("\n".join([json.dumps({**json.loads(head), "dropped": 1}), *events]))
    shown = Shown(open_page, busy, "")
    shown.is_connected()
    shown.page.locator("#recording-file").set_input_files(file)
    expect(shown.banner).to_contain_text("It begins late: 1 event before it was not kept.")
    # The tree at its end is in it; what was before it is not, but what has changed is.
    expect(shown.row("sheet")).to_contain_text("presented as form sheet")
    shown.page.get_by_role("button", name="One revision back").click()
    expect(shown.page.locator("#tree-note")).to_contain_text("only its changes are")
    expect(shown.page.locator("#changes")).to_contain_text("editor came on top of nav")


@pytest.mark.parametrize(("text", "words"), [
    ("nothing", "Line 1 of the file is no JSON."),
    ('{"form":1}', "This is no recording of a transition arbiter"),
    ('{"trace":"transition-arbiter","form":2}', "has the form 2, and this page knows form 1 only"),
])
def test_another_file_is_refused_in_words(
    daemon: Daemon, open_page: OpenPage, tmp_path: Path, text: str, words: str
) -> None:
    file = tmp_path / "other"
    file.write_text(text)
    shown = Shown(open_page, daemon)
    shown.is_connected()
    shown.page.locator("#recording-file").set_input_files(file)
    expect(shown.told).to_contain_text(words)
    shown.is_connected()
    shown.told.get_by_role("button", name="Hide the message").click()
    expect(shown.told).to_be_empty()


def head(**members: object) -> str:
    return json.dumps({"trace": "transition-arbiter", "form": 1, "at": "2026-01-01T00:00:00Z", "scenes": [], **members})


def event(name: str, **data: object) -> str:
    return head() + "\n" + json.dumps({"event": name, "data": {"scene": "main", **data}})


TICKET = {"id": "t-1", "state": "queued", "requestedAt": "2026-01-01T00:00:00Z", "scope": "scene"}


@pytest.mark.parametrize(("text", "words"), [
    ("null", "This is no recording of a transition arbiter"),
    (head(at="yesterday"), "Line 1 does not say what a recording has to say."),
    (head(scenes="main"), "Line 1 does not say what a recording has to say."),
    (head(scenes=[{"name": "main", "running": []}]), "Line 1 does not say what a recording has to say."),
    (head(), "it has no scene"),
    (head() + "\nnull", "Line 2 is no event that this page knows."),
    (event("transition.queued", **TICKET | {"state": "asleep"}), "Line 2 is no event"),
    (event("transition.queued", **TICKET | {"requestedAt": "soon"}), "Line 2 is no event"),
    (event("transition.queued", **TICKET | {"participants": 5}), "Line 2 is no event"),
    (event("transition.queued", **TICKET | {"client": {"name": "menu"}}), "Line 2 is no event"),
    (event("hierarchy.changed", revision=1), "Line 2 is no event"),
    (event("hierarchy.changed", revision=1, changes=[{"type": "replace", "root": {"id": "a", "children": ["b"]}}]), "Line 2 is no event"),
    (event("hierarchy.changed", revision=1, changes=[{"type": "insert", "controller": {"id": "a"}}]), "Line 2 is no event"),
    (event("transition.progress", transition="t-1", fraction="half"), "Line 2 is no event"),
])
def test_a_damaged_recording_is_refused_in_words(
    daemon: Daemon, open_page: OpenPage, tmp_path: Path, text: str, words: str
) -> None:
    file = tmp_path / "damaged.jsonl"
    file.write_text(text)
    shown = Shown(open_page, daemon)
    shown.is_connected()
    shown.page.locator("#recording-file").set_input_files(file)
    expect(shown.told).to_contain_text(words)
    shown.is_connected()


def without_states(lines: list[str]) -> list[str]:
    return [json.dumps({**json.loads(lines[0]), "scenes": []}), *lines[1:]]


@pytest.mark.parametrize(("damage", "line", "words"), [
    (lambda lines: lines[:-2], -1, "is missing"),
    (lambda lines: lines[:3] + lines[5:], 4, "event 3 of main is missing before event 5"),
    (lambda lines: lines[:1] + lines[4:] + lines[1:4], 2, "event 1 of main is missing before event 4"),
    (lambda lines: lines[:4] + lines[3:], 5, "event 3 of main is there already, or comes too late"),
    (without_states, 1, "it does not show the scene main"),
], ids=["cut", "lines are missing", "swapped", "doubled", "no states"])
@pytest.mark.parametrize("path", ["/scenes/main/trace", "/trace"])
def test_a_recording_that_is_not_whole_is_refused(
    busy: Daemon, open_page: OpenPage, path: str, damage: Callable[[list[str]], list[str]], line: int, words: str
) -> None:
    with urllib.request.urlopen(busy.url + path, timeout=PATIENCE) as answer:
        lines = answer.read().decode().splitlines()
    damaged = damage(lines)
    shown = Shown(open_page, busy)
    shown.is_connected()
    shown.drop("\n".join(damaged))
    expect(shown.told).to_contain_text(f"Line {line if line > 0 else len(damaged) + 1} is wrong:")
    expect(shown.told).to_contain_text(words)
    # What is whole is opened, and the message is gone.
    shown.drop("\n".join(lines))
    expect(shown.banner).to_contain_text("This is a recording, not a daemon.")
    expect(shown.told).to_be_empty()


def test_a_recording_is_closed_where_it_was_opened(busy: Daemon, open_page: OpenPage) -> None:
    start(busy, "cook", scene="kitchen")
    text = recording(busy)
    shown = Shown(open_page, busy, "?scene=kitchen")
    expect(shown.holder).to_contain_text("cook has held")
    shown.drop(text)
    is_the_recording(shown)
    shown.card("ended", "first").locator(".plain").click()
    expect(shown.record.get_by_role("group", name="The request as curl")).to_contain_text('"$ARBITER_URL/transitions/start"')
    shown.page.get_by_role("button", name="Close the recording").click()
    expect(shown.holder).to_contain_text("cook has held")
    assert shown.page.url == busy.url + "/?scene=kitchen"


def test_what_a_recording_says_beyond_what_is_known_does_no_harm(
    daemon: Daemon, open_page: OpenPage, tmp_path: Path
) -> None:
    file = tmp_path / "later.jsonl"
    ended = {**TICKET, "state": "ended", "endedAt": TICKET["requestedAt"], "outcome": "constructor", "client": "menu"}
    lines = [
        event("hierarchy.changed", revision=1, changes=[{"type": "replace", "root": {"id": "nav", "kind": "constructor"}}]),
        event("hierarchy.changed", revision=2, changes=[{"type": "constructor", "id": "nav"}]).split("\n")[1],
        event("transition.ended", **ended).split("\n")[1], event("something.new").split("\n")[1]]
    file.write_text("\r\n".join(lines) + "\r\n\r\n")
    shown = Shown(open_page, daemon)
    shown.is_connected()
    shown.page.locator("#recording-file").set_input_files(file)
    expect(shown.banner).to_contain_text("This is a recording, not a daemon.")
    expect(shown.card("ended", "menu")).to_contain_text("constructor")
    shown.page.get_by_role("button", name="One revision back").click()
    expect(shown.row("nav")).to_contain_text("constructor · visible")


def test_many_scenes_of_a_recording_are_not_all_listed(daemon: Daemon, open_page: OpenPage, tmp_path: Path) -> None:
    file = tmp_path / "many.jsonl"
    events = [json.dumps({"event": "scene.deleted", "data": {"scene": f"scene-{number}"}}) for number in range(250)]
    file.write_text("\n".join([head(), *events]))
    shown = Shown(open_page, daemon)
    shown.is_connected()
    shown.page.locator("#recording-file").set_input_files(file)
    expect(shown.page.locator("#scenes-note")).to_contain_text("There are more scenes in the recording.")
    expect(shown.page.locator("#scene-list > li")).to_have_count(200)


def test_the_daemon_is_left_alone_while_a_recording_is_open(busy: Daemon, open_page: OpenPage, tmp_path: Path) -> None:
    file = tmp_path / "field.jsonl"
    file.write_text(recording(busy))
    shown = Shown(open_page, busy, "")
    shown.is_connected()
    shown.page.get_by_role("button", name="Start a transition…").click()
    shown.page.locator("#recording-file").set_input_files(file)
    expect(shown.banner).to_contain_text("This is a recording, not a daemon.")
    expect(shown.page.locator("dialog[open]")).to_have_count(0)
    # What it would do when the window is looked at again.
    asked = shown.page.evaluate("""() => {
      const asked = [];
      const { fetch } = window;
      window.fetch = (...request) => { asked.push(String(request[0])); return fetch(...request); };
      document.dispatchEvent(new Event('visibilitychange'));
      return asked;
    }""")
    assert asked == []


def test_a_text_may_be_dragged_into_a_field(daemon: Daemon, open_page: OpenPage) -> None:
    shown = Shown(open_page, daemon)
    assert shown.page.evaluate("""() => ['dragover', 'drop'].map(name => {
      const dataTransfer = new DataTransfer();
      dataTransfer.setData('text/plain', 'nav');
      return document.dispatchEvent(new DragEvent(name, { dataTransfer, cancelable: true }));
    })""") == [True, True]


def test_a_recording_of_another_host_is_not_read(daemon: Daemon, open_page: OpenPage) -> None:
    shown = Shown(open_page, daemon, "?trace=http://127.0.0.2:1/recording.jsonl")
    expect(shown.banner).to_contain_text("can only be read from this daemon itself")


# Answers of the page's own origin that are no recording: the first piece, the piece that comes again and again, and a type.
ENDLESS = """([first, again, type]) => {
  const { fetch } = window;
  const encoder = new TextEncoder();
  const piece = encoder.encode(again);
  window.fetch = (url, options) => {
    if (!String(url).endsWith('/endless')) return fetch(url, options);
    const body = new ReadableStream({
      start(controller) {
        options.signal.addEventListener('abort', () => controller.error(options.signal.reason));
        controller.enqueue(encoder.encode(first));
      },
      pull(controller) {
        window.asked = true;
        if (piece.length) controller.enqueue(piece);
      },
    });
    return Promise.resolve(new Response(body, { headers: { 'Content-Type': type } }));
  };
}"""


def endless(daemon: Daemon, context: BrowserContext, first: str, again: str, media_type: str = "application/jsonl") -> Page:
    """The page, before it has read a recording that has no end."""
    context.add_init_script(f"({ENDLESS})({json.dumps([first, again, media_type])})")
    return context.new_page()


@pytest.mark.parametrize(("path", "words"), [
    ("/events", "This is a stream of events, which has no end."),
    ("/scenes/main/events?since=0", "This is a stream of events, which has no end."),
    ("/transitions", "This is no recording of a transition arbiter"),
    ("/", "Line 1 of the file is no JSON."),
    ("/nothing", "There is no recording at /nothing: the answer was 404."),
    ("/trace?other=1", "There is no recording at /trace: the answer was 400."),
])
def test_an_address_that_is_no_recording_is_refused_in_words(
    daemon: Daemon, open_page: OpenPage, path: str, words: str
) -> None:
    shown = Shown(open_page, daemon, f"?trace={quote(path)}")
    expect(shown.banner).to_contain_text(words)
    expect(shown.status).to_have_text("There is no recording")


@pytest.mark.parametrize(("first", "again", "words"), [
    (head() + "\n", "\n" * 2**24, "The file is larger than 256 MB."),
    ("[", " " * 2**24, "The file is larger than 256 MB."),
    ("[\n1", ",\n1", "Line 1 of the file is no JSON."),
    (": nothing\n", "", "Line 1 of the file is no JSON."),
])
def test_an_answer_that_has_no_end_is_refused_in_words(
    daemon: Daemon, context: BrowserContext, first: str, again: str, words: str
) -> None:
    page = endless(daemon, context, first, again)
    page.goto(f"{daemon.url}/?trace=/endless")
    expect(page.locator("#banner")).to_contain_text(words)
    expect(page.locator("#status")).to_have_text("There is no recording")


def test_an_answer_that_falls_silent_is_refused_in_words(daemon: Daemon, context: BrowserContext) -> None:
    page = endless(daemon, context, head() + "\n", "")
    page.clock.install()
    page.goto(f"{daemon.url}/?trace=/endless")
    page.wait_for_function("window.asked")
    page.clock.fast_forward(31_000)
    expect(page.locator("#banner")).to_contain_text("The answer at /endless has no end: nothing came for 30 seconds.")
    expect(page.locator("#status")).to_have_text("There is no recording")


# Keyboard

def test_the_page_is_used_by_keyboard_alone(busy: Daemon, open_page: OpenPage) -> None:
    shown = Shown(open_page, busy)
    page, press = shown.page, shown.page.keyboard.press
    expect(shown.holder).to_contain_text("menu has held")
    expect(shown.row("sheet")).to_be_visible()
    press("Tab")
    is_focused(page.get_by_role("link", name="Skip to who holds the lock"))
    press("Enter")
    is_focused(page.locator("#now"))
    press("Tab")
    is_focused(shown.holder.locator("button"))

    press("Enter")
    is_focused(page.locator("#record-title"))
    expect(shown.record).to_contain_text("It has locked the whole scene")
    press("Escape")
    expect(shown.record).to_be_hidden()
    is_focused(shown.holder.locator("button"))

    tab_to(page, shown.row("tabs"))
    for key, controller in [("ArrowDown", "nav"), ("ArrowRight", "list"), ("End", "sheet"), ("Home", "tabs"), ("ArrowDown", "nav")]:
        press(key)
        is_focused(shown.row(controller))
    press("ArrowLeft")
    expect(shown.row("nav")).to_have_attribute("aria-expanded", "false")
    expect(shown.row("list")).to_have_count(0)
    press("ArrowRight")
    expect(shown.row("list")).to_be_visible()

    tab_to(page, page.locator("#revision"))
    press("ArrowLeft")
    expect(page.locator("#revision")).to_have_attribute("aria-valuetext", re.compile("^Revision 2"))
    press("End")
    tab_to(page, shown.card("waiting", "alert").locator(".plain"))
    press("Enter")
    expect(shown.record).to_contain_text("It has waited")
    press("Escape")

    tab_to(page, page.locator("#chart"))
    press("-")
    expect(page.locator("#chart-said")).to_have_text("2 min are shown.")
    press("Home")
    expect(page.locator("#chart-said")).to_contain_text("first, to push editor onto nav")
    press("ArrowRight")
    expect(page.locator("#chart-said")).to_contain_text("second, to present sheet from nav")
    press("Enter")
    is_focused(page.locator("#record-title"))
    expect(shown.record).to_contain_text("Its owner finished: sheet came.")


def tab_to(page: Page, target: Locator) -> None:
    """Presses Tab until the element has the focus; there is an end to it."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if target.evaluate("element => element === document.activeElement"):
            return
    raise AssertionError(f"{target} is not reached by Tab")


def test_the_request_is_copied_as_curl(busy: Daemon, open_page: OpenPage) -> None:
    shown = Shown(open_page, busy)
    shown.card("ended", "first").locator(".plain").click()
    curl = shown.record.get_by_role("group", name="The request as curl")
    expect(curl).to_contain_text('"operation":{"type":"push","navigation":"nav","controller":{"id":"editor","kind":"view"}}')
    expect(curl).to_contain_text("/transitions/start'")
    shown.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    shown.record.get_by_role("button", name="Copy as curl").click()
    expect(shown.record).to_contain_text("Copied.")
    assert shown.page.evaluate("navigator.clipboard.readText()") == curl.text_content()


# Those who do not see it, and those who see it differently

@pytest.fixture
def open_as(browser: Browser) -> Callable[..., Page]:
    contexts = []

    def open_as(url: str, **options: object) -> Page:
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.goto(url)
        return page

    yield open_as
    for context in contexts:
        context.close()


def test_a_record_covers_neither_the_lanes_nor_the_timeline(busy: Daemon, open_page: OpenPage) -> None:
    shown = Shown(open_page, busy)
    shown.page.set_viewport_size({"width": 1440, "height": 980})
    shown.card("ended", "failing").locator(".plain").click()
    expect(shown.record).to_contain_text("curl -s")
    record = shown.record.bounding_box()
    for name in ["now", "lanes", "timeline"]:
        box = shown.page.locator(f"#{name}").bounding_box()
        apart = [
            box["x"] >= record["x"] + record["width"], record["x"] >= box["x"] + box["width"],
            box["y"] >= record["y"] + record["height"], record["y"] >= box["y"] + box["height"]]
        assert any(apart), name


def test_long_and_blank_names_leave_room_for_what_is_said(daemon: Daemon, open_page: OpenPage) -> None:
    start(daemon, "n" * 128)
    queue(daemon, "   ")
    shown = Shown(open_page, daemon)
    expect(shown.next).to_contain_text("“   ” has waited")
    expect(shown.next).to_contain_text(f"because {'n' * 63}… has locked the whole scene")
    shown.holder.locator("button").click()
    expect(shown.page.locator("#record-title")).to_have_text("n" * 128)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1440, 390])
@pytest.mark.parametrize("opens", ["nothing", "a record", "a dialog", "an earlier revision"])
def test_axe_finds_no_violation(busy: Daemon, open_as: Callable[..., Page], scheme: str, width: int, opens: str) -> None:
    options = {"color_scheme": scheme, "viewport": {"width": width, "height": 844}, "bypass_csp": True, "reduced_motion": "reduce"}
    shown = Shown(lambda url: open_as(url, **options), busy)
    expect(shown.holder).to_contain_text("menu has held")
    expect(shown.row("sheet")).to_be_visible()
    expect(shown.cards("ended")).to_have_count(3)
    if opens == "a record":
        shown.card("ended", "failing").locator(".plain").click()
        expect(shown.record).to_contain_text("curl -s")
    elif opens == "a dialog":
        shown.page.get_by_role("button", name="Start a transition…").click()
        expect(shown.page.locator("#start-check")).not_to_be_empty()
    elif opens == "an earlier revision":
        shown.page.get_by_role("button", name="One revision back").click()
        expect(shown.page.locator("#tree")).to_contain_class("earlier")
    result = Axe().run(shown.page)
    assert result.violations_count == 0, result.generate_report()
    # Nothing has to be scrolled sideways.
    assert shown.page.evaluate("document.documentElement.scrollWidth") <= width


def test_grants_and_ends_are_said(daemon: Daemon, open_page: OpenPage) -> None:
    shown = Shown(open_page, daemon)
    said = shown.page.locator("#said[aria-live=polite]")
    expect(said).to_have_text("Connected.")
    # What has happened before is read, and not said.
    expect(shown.holder).to_contain_text("There is no scene main yet")
    menu = start(daemon, "menu")
    expect(said).to_contain_text("menu is running.")
    end(daemon, menu)
    expect(said).to_contain_text("menu ended, completed.")


def test_other_scenes_are_a_click_away(daemon: Daemon, open_page: OpenPage) -> None:
    start(daemon, "menu")
    start(daemon, "cook", scene="kitchen")
    shown = Shown(open_page, daemon)
    expect(shown.holder).to_contain_text("menu has held")
    shown.page.get_by_role("navigation", name="Scenes").get_by_role("button", name="kitchen").click()
    expect(shown.holder).to_contain_text("cook has held")
    assert shown.page.url == daemon.url + "/?scene=kitchen"


def test_the_page_works_behind_a_path(daemon: Daemon, context: BrowserContext, open_page: OpenPage) -> None:
    behind = f"{daemon.url}/arbiter"
    # A proxy that takes the path away, and has nothing else.
    context.route("**/*", lambda route: route.abort())
    context.route(f"{behind}/**", lambda route: route.continue_(url=route.request.url.replace(behind, daemon.url, 1)))
    start(daemon, "menu")
    shown = Shown(lambda url: open_page(url.replace(daemon.url, behind, 1)), daemon)
    expect(shown.holder).to_contain_text("menu has held")
    start(daemon, "cook", scene="kitchen")
    shown.page.get_by_role("navigation", name="Scenes").get_by_role("button", name="kitchen").click()
    expect(shown.holder).to_contain_text("cook has held")
    assert shown.page.url == f"{behind}/?scene=kitchen"
    shown.holder.locator("button").click()
    expect(shown.page.locator("#record-title")).to_have_text("cook")
