"""The daemon's own page: texts of others in its sentences, and files and addresses that are not what they should be."""

import re
from pathlib import Path

import pytest
from daemon import Daemon
from playwright.sync_api import BrowserContext, Page, Route, expect
from shown import NAVIGATION, OpenPage, Shown, declare, end, push, queue, start

# Characters that change the order of what is around them, or that cannot be seen.
HIDDEN = "[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066\u2067\ufeff]"


def test_names_and_reasons_do_not_turn_sentences_around(daemon: Daemon, open_page: OpenPage) -> None:
    segue = {"identifier": "ed\u2067it", "source": "list", "kind": "show", "destination": "editor"}
    declare(daemon, {**NAVIGATION, "segues": [segue]})
    shown = Shown(open_page, daemon)
    menu = start(
        daemon, "menu\u202e", operation={"type": "segue", "source": "list", "identifier": segue["identifier"]},
        participants=["cl\u200fock"], readySeconds=60)
    alert = queue(daemon, "al\u202dert", coalesce={"key": "k\u202e"})
    expect(shown.holder).to_contain_text("menu\\u202e has held the lock of the whole scene")
    expect(shown.holder).to_contain_text("to perform the segue ed\\u2067it of list.")
    expect(shown.card("running", "menu").locator(".chip").first).to_have_text("cl\\u200fock is missing")
    expect(shown.next).to_contain_text("It waits because menu\\u202e has locked the whole scene.")
    expect(shown.card("waiting", "al")).to_contain_text("only one of “k\\u202e” waits")
    end(daemon, alert, "cancelled")
    daemon.ask("POST", "/transitions/revoke", {"id": menu["id"], "reason": "\u202eevil\u202c"})
    expect(shown.failure).to_contain_text("took it away: “\\u202eevil\\u202c”.")
    shown.card("ended", "menu").locator(".plain").click()
    expect(shown.page.locator("#record-title")).to_have_text("menu\\u202e")
    # As JSON it is still the same.
    curl = shown.record.get_by_role("group", name="The request as curl")
    expect(curl).to_contain_text('"client":"menu\\u202e"')
    texts = shown.page.evaluate("""() => [document.documentElement.textContent, document.title,
      ...[...document.querySelectorAll('[title], [aria-label]')].flatMap(each => [each.title, each.ariaLabel ?? ''])]""")
    assert re.findall(HIDDEN, "".join(texts)) == []


def test_a_name_that_cannot_be_seen_is_shown(daemon: Daemon, open_page: OpenPage) -> None:
    start(daemon, "\u200b")
    queue(daemon, "\u3000")
    shown = Shown(open_page, daemon)
    expect(shown.holder).to_contain_text("\\u200b has held")
    expect(shown.next).to_contain_text("“\u3000” has waited")


def test_a_name_that_is_read_from_right_to_left_stays_by_itself(daemon: Daemon, open_page: OpenPage) -> None:
    start(daemon, "תפריט")
    family = "👨\u200d👩\u200d👧"
    queue(daemon, family)
    shown = Shown(open_page, daemon)
    expect(shown.holder).to_contain_text("\u2068תפריט\u2069 has held")
    expect(shown.next).to_contain_text(f"{family} has waited")
    names = shown.page.evaluate("""async () => {
      const { inWords, shortened } = await import('/page/names.js');
      return [inWords('a\\u2069b'), shortened('😀'.repeat(100)), inWords('e\\u0301')];
    }""")
    assert names == ["a\\u2069b", "😀" * 63 + "…", "e\u0301"]


def test_names_in_the_timeline_are_escaped(daemon: Daemon, context: BrowserContext, open_page: OpenPage) -> None:
    context.add_init_script("""
      window.drawn = new Set();
      const { fillText } = CanvasRenderingContext2D.prototype;
      CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) { drawn.add(text); fillText.call(this, text, ...rest); };
    """)
    start(daemon, "a\u202eb")
    queue(daemon, " ")
    shown = Shown(open_page, daemon)
    expect(shown.next).to_contain_text("has waited")
    shown.page.wait_for_function("drawn.has('a\\\\u202eb') && drawn.has('“ ”')")
    assert not shown.page.evaluate("[...drawn].some(text => text.includes('\\u202e'))")


@pytest.mark.parametrize("scene", [".", "..", "%2E%2E"])
def test_a_scene_that_cannot_be_is_not_shown_as_free(daemon: Daemon, open_page: OpenPage, scene: str) -> None:
    declare(daemon, NAVIGATION)
    shown = Shown(open_page, daemon, f"?scene={scene}")
    shown.is_connected()
    name = ".." if "%" in scene else scene
    expect(shown.holder).to_have_text(f"No scene can have the name “{name}”.")
    shown.page.get_by_role("button", name="Declare a scene…").click()
    dialog = shown.page.get_by_role("dialog", name="Declare a scene")
    expect(dialog.get_by_role("status")).to_have_text(f"No scene can have the name “{name}”.")
    expect(dialog.get_by_role("button", name="Declare it")).to_be_disabled()


def test_an_answer_that_is_no_json_is_not_one_of_the_daemon(
    daemon: Daemon, context: BrowserContext, open_page: OpenPage
) -> None:
    context.route("**/whoami", lambda route: route.fulfill(content_type="text/html", body="<p>A proxy</p>"))
    shown = Shown(open_page, daemon)
    expect(shown.status).to_have_text("Not connected")


def test_an_expectation_that_failed_is_said_once(daemon: Daemon, open_page: OpenPage) -> None:
    declare(daemon, NAVIGATION)
    menu = start(daemon, "menu", operation=push("editor"))
    queue(daemon, "alert", expect=[{"controller": "list", "is": "top"}])
    shown = Shown(open_page, daemon)
    expect(shown.next).to_contain_text("alert has waited")
    end(daemon, menu)
    expect(shown.failure).to_contain_text("When its turn came it was impossible: Expected: ")
    text = shown.failure.text_content()
    assert text.lower().count("expected") == 1
    assert text.lower().count("found") == 1


@pytest.mark.parametrize(("text", "words"), [
    ("", "The file is empty."),
    (" \n\n", "The file is empty."),
    ('{"traceEvents":[]}', "This is no recording of a transition arbiter: its first line does not say so."),
])
def test_a_file_that_is_no_recording_is_named(
    daemon: Daemon, open_page: OpenPage, tmp_path: Path, text: str, words: str
) -> None:
    file = tmp_path / "other"
    file.write_text(text)
    shown = Shown(open_page, daemon)
    shown.is_connected()
    shown.page.locator("#recording-file").set_input_files(file)
    expect(shown.told).to_contain_text(words)


def test_an_address_without_the_path_of_a_recording_says_so(daemon: Daemon, open_page: OpenPage) -> None:
    shown = Shown(open_page, daemon, "?trace=")
    expect(shown.banner).to_contain_text("where the path of a recording has to be.")


@pytest.mark.parametrize("query", ["?utm_source=x&scene=main", "?scene=main&scene=kitchen", "?scene=main&%ff"])
def test_the_page_is_shown_whatever_the_address_has(daemon: Daemon, open_page: OpenPage, query: str) -> None:
    start(daemon, "menu")
    expect(Shown(open_page, daemon, query).holder).to_contain_text("menu has held")


@pytest.mark.parametrize("module", ["words.js", "live.js"])
def test_a_module_that_is_missing_is_said(daemon: Daemon, context: BrowserContext, open_page: OpenPage, module: str) -> None:
    context.route(f"**/page/{module}", lambda route: route.abort())
    shown = Shown(open_page, daemon)
    expect(shown.banner).to_be_visible()
    expect(shown.banner).to_contain_text("oad the page again.")


def test_what_is_said_while_the_page_loads_goes_away(daemon: Daemon, context: BrowserContext) -> None:
    held: list[Route] = []
    is_held = True
    # It may be asked for only after the first text is there.
    context.route("**/page/words.js", lambda route: held.append(route) if is_held else route.fallback())

    def open_page(url: str) -> Page:
        page = context.new_page()
        page.goto(url, wait_until="commit")
        return page

    shown = Shown(open_page, daemon)
    expect(shown.status).to_have_text("Loading…")
    is_held = False
    for route in held:
        route.fallback()
    shown.is_connected()
    expect(shown.banner).to_be_hidden()


def test_dense_bars_keep_the_keys_of_the_timeline_in_their_place(daemon: Daemon, open_page: OpenPage) -> None:
    end(daemon, start(daemon, "earlier"))
    for _ in range(6):
        end(daemon, start(daemon, "dense"))
    shown = Shown(open_page, daemon)
    expect(shown.cards("ended")).to_have_count(7)
    said = shown.page.locator("#chart-said")
    shown.page.locator("#chart").focus()
    for key in ["-", "-", "-", "-", "End", "ArrowLeft"]:
        shown.page.keyboard.press(key)
    expect(said).to_contain_text("dense, to animate")
    shown.page.keyboard.press("ArrowUp")
    expect(said).to_contain_text("earlier, to animate")


def test_long_names_of_scenes_leave_room_for_the_counts(daemon: Daemon, open_page: OpenPage) -> None:
    name = "a-scene-with-a-name-that-is-long"
    start(daemon, "menu", scene=name)
    queue(daemon, "alert", scene=name)
    shown = Shown(open_page, daemon, f"?scene={name}")
    shown.page.set_viewport_size({"width": 1440, "height": 900})
    chips = shown.page.locator("#scene-list .chip")
    expect(chips).to_have_count(2)
    box = shown.page.locator("#scenes").bounding_box()
    for chip in chips.all():
        place = chip.bounding_box()
        assert place["x"] + place["width"] <= box["x"] + box["width"]
    assert shown.page.evaluate("(list => list.scrollWidth <= list.clientWidth)(document.getElementById('scenes'))")
