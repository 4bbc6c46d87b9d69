"""The daemon's own page: its dialogs, and what it says about what was asked for in them."""

import json
import re
from pathlib import Path

import pytest
from daemon import Daemon
from playwright.sync_api import BrowserContext, Locator, expect
from shown import NAVIGATION, MortalDaemon, OpenPage, Shown, declare, end, new_token, recording, start


def open_start(shown: Shown) -> Locator:
    shown.page.get_by_role("button", name="Start a transition…").click()
    return shown.page.get_by_role("dialog", name="Start a transition")


def hold(shown: Shown) -> None:
    """Starts a transition of the page."""
    open_start(shown).get_by_role("button", name="Ask for the lock").click()
    expect(shown.holder).to_contain_text("page has held")


# Declaring

def test_a_storyboard_is_not_replaced_unseen_by_way_of_another_scene(daemon: Daemon, open_page: OpenPage) -> None:
    declare(daemon, NAVIGATION)
    shown = Shown(open_page, daemon)
    shown.page.get_by_role("button", name="Declare a scene…").click()
    dialog = shown.page.get_by_role("dialog", name="Declare a scene")
    text, check, scene = dialog.get_by_label("Storyboard, as JSON"), dialog.get_by_role("status"), dialog.get_by_label("Scene", exact=True)
    expect(text).to_have_value(re.compile('"list"'))
    text.fill(json.dumps({"root": "mine"}))
    expect(check).to_have_text(re.compile("^Correct: 1 controller"))
    declare(daemon, {"root": {"id": "theirs", "kind": "navigation", "children": ["list"]}})
    scene.fill("mainx")
    expect(check).to_have_text("Correct: 1 controller, 0 segues, 0 transition types.")
    scene.fill("main")
    expect(dialog.get_by_role("button", name="Declare it")).to_be_enabled()
    dialog.get_by_role("button", name="Declare it").click()
    expect(check).to_contain_text("has changed since it was read here")
    again = dialog.get_by_role("button", name="Read it again")
    expect(again).to_be_visible()
    # It is about that scene only.
    scene.fill("mainx")
    expect(again).to_be_hidden()
    assert daemon.ask("GET", "/scenes/main")["hierarchy"]["id"] == "theirs"


def test_whoever_would_replace_another_scene_is_warned(daemon: Daemon, open_page: OpenPage) -> None:
    declare(daemon, NAVIGATION, "kitchen")
    shown = Shown(open_page, daemon)
    shown.page.get_by_role("button", name="Declare a scene…").click()
    dialog = shown.page.get_by_role("dialog", name="Declare a scene")
    scene, check = dialog.get_by_label("Scene", exact=True), dialog.get_by_role("status")
    expect(check).to_contain_text("Correct: 2 controllers")
    scene.fill("kitchen")
    expect(check).to_contain_text("It would replace what is declared in kitchen, which is not what stood here.")
    scene.fill("main")
    expect(check).not_to_contain_text("It would replace")
    scene.fill("kitchen")
    expect(check).to_contain_text("It would replace")
    dialog.get_by_role("button", name="Declare it").click()
    expect(shown.told).to_contain_text("The scene kitchen is declared. Its tree has revision 2.")


# Small windows

@pytest.mark.parametrize("width", [320, 360, 390, 414])
@pytest.mark.parametrize("button", ["Start a transition…", "Declare a scene…"])
def test_a_dialog_fits_into_a_small_window(daemon: Daemon, open_page: OpenPage, button: str, width: int) -> None:
    shown = Shown(open_page, daemon)
    shown.page.set_viewport_size({"width": width, "height": 780})
    shown.page.get_by_role("button", name=button).click()
    dialog = shown.page.locator("dialog[open]")
    if "Start" in button:
        dialog.get_by_label("Operation").select_option("popTo")
    expect(dialog.locator(".check")).not_to_be_empty()
    assert dialog.evaluate("dialog => dialog.scrollWidth <= dialog.clientWidth")
    for field in dialog.locator("input, select, textarea, button").filter(visible=True).all():
        box = field.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width


# Starting

def test_the_start_dialog_names_its_scene_and_follows_what_happens(daemon: Daemon, open_page: OpenPage) -> None:
    shown = Shown(open_page, daemon, "?scene=kitchen")
    dialog = open_start(shown)
    expect(dialog.get_by_role("heading")).to_have_text("Start a transition in kitchen")
    expect(dialog.get_by_role("status")).to_have_text("It would run at once.")
    menu = start(daemon, "menu", scene="kitchen")
    expect(dialog.get_by_role("status")).to_have_text("It would have to wait for menu.")
    end(daemon, menu)
    expect(dialog.get_by_role("status")).to_have_text("It would run at once.")


def test_what_would_be_refused_cannot_be_asked_for_and_is_not_lost(daemon: Daemon, open_page: OpenPage) -> None:
    declare(daemon, NAVIGATION)
    shown = Shown(open_page, daemon)
    dialog = open_start(shown)
    ask = dialog.get_by_role("button", name="Ask for the lock")
    dialog.get_by_label("Operation").select_option("push")
    expect(ask).to_be_disabled()
    dialog.get_by_label("Stack").fill("nothing")
    dialog.get_by_label("Controller", exact=True).fill("editor")
    expect(dialog.get_by_role("status")).to_contain_text("nothing")
    expect(ask).to_be_disabled()
    dialog.get_by_label("Stack").press("Enter")
    expect(dialog).to_be_visible()
    dialog.get_by_role("button", name="Cancel").click()
    dialog = open_start(shown)
    expect(dialog.get_by_label("Stack")).to_have_value("nothing")
    dialog.get_by_label("Stack").fill("nav")
    expect(ask).to_be_enabled()


def test_nothing_can_be_asked_of_a_daemon_that_is_gone(tmp_path: Path, open_page: OpenPage) -> None:
    with MortalDaemon(tmp_path, "--data", str(tmp_path / "journal")) as daemon:
        shown = Shown(open_page, daemon)
        dialog = open_start(shown)
        expect(dialog.get_by_role("button", name="Ask for the lock")).to_be_enabled()
        daemon.kill()
        expect(dialog.get_by_role("status")).to_have_text("The daemon does not answer.")
        expect(dialog.get_by_role("button", name="Ask for the lock")).to_be_disabled()
        daemon.start_again()
        expect(dialog.get_by_role("status")).to_have_text("It would run at once.")
        expect(dialog.get_by_role("button", name="Ask for the lock")).to_be_enabled()


def asked_of_none(daemon: MortalDaemon, shown: Shown) -> None:
    """Asks for the lock at the moment at which the daemon goes away."""
    dialog = open_start(shown)
    expect(dialog.get_by_role("button", name="Ask for the lock")).to_be_enabled()
    # The page has not yet seen it.
    shown.page.evaluate("""() => {
      const { fetch } = window;
      window.fetch = (url, ...rest) => (/whoami|dryRun/.test(url) ? new Promise(() => {}) : fetch(url, ...rest));
      window.mend = () => { window.fetch = fetch; };
    }""")
    daemon.kill()
    dialog.get_by_role("button", name="Ask for the lock").click()


def test_what_is_asked_of_a_daemon_that_goes_away_is_said_and_withdrawn(tmp_path: Path, open_page: OpenPage) -> None:
    with MortalDaemon(tmp_path, "--data", str(tmp_path / "journal")) as daemon:
        shown = Shown(open_page, daemon)
        asked_of_none(daemon, shown)
        expect(shown.told).to_contain_text("The daemon does not answer. The page asks for the lock again for half a minute")
        shown.told.get_by_role("button", name="Withdraw it").click()
        expect(shown.told).to_be_empty()
        shown.page.evaluate("mend()")
        daemon.start_again()
        shown.is_connected()
        # The next one is asked for by itself.
        dialog = open_start(shown)
        dialog.get_by_label("As the client").fill("second")
        expect(dialog.get_by_role("status")).to_have_text("It would run at once.")
        dialog.get_by_role("button", name="Ask for the lock").click()
        expect(shown.holder).to_contain_text("second has held")
        assert [each["client"] for each in daemon.transitions()] == ["second"]


def test_what_is_asked_of_a_daemon_that_goes_away_is_granted_when_it_returns(tmp_path: Path, open_page: OpenPage) -> None:
    with MortalDaemon(tmp_path, "--data", str(tmp_path / "journal")) as daemon:
        shown = Shown(open_page, daemon)
        asked_of_none(daemon, shown)
        expect(shown.told).to_contain_text("The daemon does not answer.")
        shown.page.evaluate("mend()")
        daemon.start_again()
        expect(shown.holder).to_contain_text("page has held")
        expect(shown.told).to_be_empty()


def test_why_an_end_failed_is_not_wiped_away(tmp_path: Path, open_page: OpenPage) -> None:
    with MortalDaemon(tmp_path) as daemon:
        shown = Shown(open_page, daemon)
        dialog = open_start(shown)
        dialog.get_by_label("Lease, in seconds").fill("300")
        dialog.get_by_role("button", name="Ask for the lock").click()
        expect(shown.holder).to_contain_text("page has held")
        # The page learns that the end has failed before it has seen that the daemon is there again, and had not seen it go.
        shown.page.evaluate("""() => {
          const { fetch } = window;
          let failed;
          const failure = new Promise(resolve => { failed = resolve; });
          window.fetch = async (url, ...rest) => {
            if (!url.endsWith('/transitions/end')) await failure;
            const answer = await fetch(url, ...rest);
            if (url.endsWith('/transitions/end')) setTimeout(failed, 300);
            return answer;
          };
        }""")
        daemon.kill()
        shown.card("running", "page").get_by_role("button", name="End it").click()
        expect(shown.told).to_contain_text("The transition ends as soon as the daemon is there again")
        daemon.start_again()
        expect(shown.told).to_contain_text(re.compile("no transition|no longer knows", re.IGNORECASE))
        shown.is_connected()
        # It is still there when the daemon has been asked for news.
        with shown.page.expect_response("**/scenes?limit=200"):
            pass
        expect(shown.told).not_to_be_empty()
        shown.told.get_by_role("button", name="Hide the message").click()
        expect(shown.told).to_be_empty()


# Recordings

def test_a_recording_does_not_end_transitions_of_the_page_unasked(daemon: Daemon, open_page: OpenPage) -> None:
    end(daemon, start(daemon, "menu"))
    text = recording(daemon)
    shown = Shown(open_page, daemon)
    hold(shown)
    shown.drop(text)
    expect(shown.told).to_contain_text("This page has 1 transition, which ends and counts as failed if the recording is opened here.")
    shown.told.get_by_role("button", name="Hide the message").click()
    expect(shown.status).to_contain_text("Connected to")
    assert {each["client"]: each["state"] for each in daemon.transitions()} == {"page": "running", "menu": "ended"}
    shown.drop(text)
    shown.told.get_by_role("button", name="Open it nevertheless").click()
    expect(shown.banner).to_contain_text("This is a recording, not a daemon.")
    expect(shown.told).to_be_empty()


# Who one is

def test_who_closes_the_question_for_a_token_can_be_asked_again(tmp_path: Path, open_page: OpenPage) -> None:
    access = tmp_path / "access.yaml"
    token = new_token(access, "ops", "observe")
    with Daemon(tmp_path, "--access", str(access)) as daemon:
        shown = Shown(open_page, daemon)
        dialog = shown.page.get_by_role("dialog", name="This daemon wants to know who you are")
        expect(dialog).to_be_visible()
        # The browser lets it be prevented once.
        shown.page.keyboard.press("Escape")
        shown.page.keyboard.press("Escape")
        expect(dialog).to_be_hidden()
        expect(shown.banner).to_contain_text("This daemon shows nothing without a token.")
        shown.page.get_by_role("button", name="Give a token…").click()
        dialog.get_by_label("Access token").fill(token)
        dialog.get_by_role("button", name="Use this token").click()
        expect(shown.status).to_contain_text("as token:ops")
        expect(shown.page.get_by_role("button", name="Give a token…")).to_be_hidden()


def test_other_roles_are_noticed(daemon: Daemon, context: BrowserContext, open_page: OpenPage) -> None:
    identity = daemon.ask("GET", "/whoami")
    roles = ["observe"]
    context.route("**/whoami", lambda route: route.fulfill(json={**identity, "roles": roles}))
    shown = Shown(open_page, daemon)
    shown.is_connected()
    button = shown.page.get_by_role("button", name="Start a transition…")
    expect(button).to_be_hidden()
    roles.append("transition")
    expect(button).to_be_visible()
    roles.remove("transition")
    expect(button).to_be_hidden()
