"""The daemon's own page: what it shows of processes that contend."""

import json
import re
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from daemon import PATIENCE, Daemon
from playwright.sync_api import BrowserContext, Route, expect
from shown import NAVIGATION, MortalDaemon, OpenPage, Shown, declare, end, new_token, push, queue, start

EVIL = "<img src=x onerror=window.harm=1><script>window.harm=1</script>"


def test_the_tree_and_the_lanes_follow_what_happens(daemon: Daemon, open_page: OpenPage) -> None:
    declare(daemon, NAVIGATION)
    shown = Shown(open_page, daemon)
    expect(shown.row("list")).to_contain_text("top · visible")
    expect(shown.holder).to_contain_text("Nobody holds a lock in main.")
    expect(shown.next).to_have_text("Nobody waits.")

    menu = start(daemon, "menu", operation=push("editor"), scope="operation")
    expect(shown.holder).to_contain_text("menu has held the lock of nav")
    expect(shown.holder).to_contain_text("to push editor onto nav. It is running. It loses the lock in")
    expect(shown.card("running", "menu")).to_contain_text("It has locked nav, to push editor onto nav.")
    expect(shown.row("nav")).to_contain_text("locked by menu")
    expect(shown.row("list")).to_contain_text("locked by menu")

    alert = queue(daemon, "alert", leaseSeconds=300)
    expect(shown.next).to_contain_text("alert has waited")
    expect(shown.next).to_contain_text("It waits because it needs the whole scene, and menu has locked nav.")

    end(daemon, menu)
    # Its owner is there.
    daemon.ask("POST", "/transitions/renew", {"id": alert["id"], "token": alert["token"]})
    expect(shown.card("ended", "menu")).to_contain_text("Its owner finished: editor came.")
    expect(shown.row("editor")).to_contain_text("top · visible")
    expect(shown.row("list")).to_contain_text("not visible")
    expect(shown.holder).to_contain_text("alert has held the lock of the whole scene")
    end(daemon, alert, "cancelled")
    expect(shown.card("ended", "alert")).to_contain_text("Its owner gave it up.")
    expect(shown.cards("running")).to_have_count(0)


def test_what_happened_before_the_page_was_opened_is_shown(daemon: Daemon, open_page: OpenPage) -> None:
    declare(daemon, NAVIGATION)
    end(daemon, start(daemon, "menu", operation=push("editor")))
    start(daemon, "alert")
    queue(daemon, "tabs")
    shown = Shown(open_page, daemon)
    expect(shown.card("ended", "menu")).to_contain_text("Completed")
    expect(shown.holder).to_contain_text("alert has held")
    expect(shown.next).to_contain_text("tabs has waited")
    expect(shown.page.locator("#revision")).to_have_value("2")


def test_the_blockers_are_drawn_and_named(daemon: Daemon, open_page: OpenPage) -> None:
    start(daemon, "menu")
    for client in ["alert", "tabs", "clock"]:
        queue(daemon, client)
    shown = Shown(open_page, daemon)
    # Lines end at what can be seen.
    shown.page.set_viewport_size({"width": 1440, "height": 1200})
    expect(shown.card("waiting", "alert")).to_contain_text("It waits because menu has locked the whole scene.")
    expect(shown.card("waiting", "tabs")).to_contain_text("because alert, which asked before it, wants the whole scene.")
    # Each for the one before it, and not for those that this one waits for itself.
    expect(shown.page.locator("#wires-drawn path")).to_have_count(3)
    expect(shown.page.locator("#wires-drawn path[marker-end]")).to_have_count(3)
    expect(shown.page.locator("#waiting-note")).to_have_text("3 tickets wait in order.")
    # Who is pointed at is told whom it waits for.
    shown.card("waiting", "tabs").hover()
    expect(shown.card("waiting", "alert")).to_contain_class("blocks")
    expect(shown.card("running", "menu")).not_to_contain_class("blocks")
    expect(shown.page.locator("#wires-drawn path.near")).to_have_count(1)


def test_an_urgent_ticket_is_shown_before_those_that_it_overtakes(daemon: Daemon, open_page: OpenPage) -> None:
    start(daemon, "advertisement")
    queue(daemon, "slides")
    shown = Shown(open_page, daemon)
    expect(shown.card("waiting", "slides")).to_be_visible()
    # The ticket that is overtaken is not told again.
    queue(daemon, "alarm", priority=5)
    expect(shown.card("waiting", "alarm")).to_contain_text("1.\u00a0alarm")
    expect(shown.card("waiting", "alarm")).to_contain_text("priority 5")
    expect(shown.card("waiting", "slides")).to_contain_text("2.\u00a0slides")
    expect(shown.card("waiting", "slides")).to_contain_text("alarm, which is more urgent, wants the whole scene")


def test_an_interruption_says_for_whom_a_transition_ends(daemon: Daemon, open_page: OpenPage) -> None:
    spot = start(daemon, "advertisement", interruptible={"by": "higher", "graceSeconds": 10})
    shown = Shown(open_page, daemon)
    expect(shown.card("running", "advertisement")).to_be_visible()
    alarm = queue(daemon, "alarm", priority=5, whenBusy="interrupt", interruptible={"by": "higher", "graceSeconds": 0})
    expect(shown.card("running", "advertisement")).to_contain_text("It ends for alarm in")
    end(daemon, spot, "cancelled")
    expect(shown.card("running", "alarm")).to_be_visible()
    fire = queue(daemon, "fire", priority=6, whenBusy="interrupt")
    expect(shown.card("ended", "alarm")).to_contain_text(f"{fire['id']} interrupted it.")
    assert daemon.ask("GET", f"/transitions/{alarm['id']}")["interruptedBy"] == fire["id"]


def test_who_shares_a_lock_and_who_takes_any_of_several_is_said(daemon: Daemon, open_page: OpenPage) -> None:
    start(daemon, "light", mode="shared", scope=["lamp"])
    start(daemon, "login", scope={"anyOf": ["lamp", "phone"]})
    queue(daemon, "pay", scope={"anyOf": ["lamp", "phone"]})
    given_up = queue(daemon, "search", scope={"anyOf": ["lamp", "phone"]})
    end(daemon, given_up, "cancelled")
    shown = Shown(open_page, daemon)
    expect(shown.card("running", "light")).to_contain_text("It has locked lamp (shared)")
    expect(shown.card("running", "login")).to_contain_text("It has locked phone")
    expect(shown.card("waiting", "pay")).to_be_visible()
    shown.card("ended", "search").click()
    shown.card("ended", "search").locator(".head .plain").click()
    expect(shown.record).to_contain_text("one of lamp and phone")


def test_an_arrow_leads_out_of_sight_where_a_blocker_is_scrolled_away(daemon: Daemon, open_page: OpenPage) -> None:
    declare(daemon, {"root": {"id": "tabs", "kind": "tabs", "children": [f"c-{number}" for number in range(20)]}})
    for number in range(20):
        start(daemon, f"client-{number}", scope=[f"c-{number}"])
    queue(daemon, "last", scope=["c-19"])
    shown = Shown(open_page, daemon)
    expect(shown.page.locator("#wires-drawn path.beyond")).to_have_count(1)
    shown.card("running", "client-19").scroll_into_view_if_needed()
    expect(shown.page.locator("#wires-drawn path:not(.beyond)")).to_have_count(1)


def test_a_lane_says_that_it_goes_on(daemon: Daemon, open_page: OpenPage) -> None:
    start(daemon, "menu")
    for number in range(9):
        queue(daemon, f"client-{number}")
    shown = Shown(open_page, daemon)
    more = shown.page.locator("#waiting .below button")
    expect(more).to_have_text(re.compile(r"^▾ \d more below$"))
    expect(shown.page.locator("#running .below")).to_be_hidden()
    more.click()
    shown.card("waiting", "client-8").scroll_into_view_if_needed()
    shown.page.locator("#waiting").evaluate("lane => lane.scrollTo(0, lane.scrollHeight)")
    expect(more).to_be_hidden()


def test_meters_differ_by_what_they_measure(daemon: Daemon, open_page: OpenPage) -> None:
    drag = start(daemon, "finger", interactive=True, participants=["clock"], readySeconds=60)
    daemon.ask("POST", "/transitions/progress", {"id": drag["id"], "token": drag["token"], "fraction": 0.4})
    queue(daemon, "hurried", queueSeconds=300)
    shown = Shown(open_page, daemon)
    card = shown.card("running", "finger")
    expect(card.locator(".meter.strip")).to_contain_text("It loses the lock in")
    expect(card.locator(".meter.clock")).to_contain_text("it starts without those that are missing")
    expect(card.locator(".meter.knob")).to_contain_text("The finger is at 40 %")
    expect(shown.card("waiting", "hurried").locator(".meter.clock")).to_contain_text("It gives up in")


def test_the_timeline_shows_the_clients_that_were_active_last(daemon: Daemon, open_page: OpenPage) -> None:
    shown = Shown(open_page, daemon)
    rows = shown.page.evaluate("""async () => {
      const { TimelineRows } = await import('/page/timeline-rows.js');
      const bar = (client, requested, ended) => ({ document: { client }, requested, ended });
      const ended = Array.from({ length: 30 }, (_, index) => bar(`client-${index}`, index, index + 1));
      const model = { ended, unfinished: new Map([['t-1', bar('client-0', 40, null)]]) };
      const { groups, hidden, count } = new TimelineRows().place(model, 0, 100);
      return { names: groups.map(each => each.name), hidden, count };
    }""")
    # The first one is active again, and stays in its place.
    assert rows == {"names": ["client-0", *(f"client-{number}" for number in range(7, 30))], "hidden": 6, "count": 24}


@pytest.mark.parametrize(("fields", "words"), [
    ({"leaseSeconds": 0.2}, "Its owner said nothing for the 0.2 s of its lease, so it lost the lock."),
    ({"maxHoldSeconds": 0.2}, "It held the lock for 0.2 s, the longest that it may."),
    ({"participants": ["clock"], "readySeconds": 0.2, "onUnready": "abort"}, "clock was not ready in time."),
])
def test_why_a_holder_failed_is_said(daemon: Daemon, open_page: OpenPage, fields: dict, words: str) -> None:
    shown = Shown(open_page, daemon)
    shown.is_connected()
    start(daemon, "menu", **fields)
    expect(shown.failure).to_contain_text("menu expired")
    expect(shown.failure).to_contain_text(words)


def test_why_a_ticket_failed_is_said(daemon: Daemon, open_page: OpenPage) -> None:
    declare(daemon, NAVIGATION)
    shown = Shown(open_page, daemon)
    menu = start(daemon, "menu")
    queue(daemon, "hurried", queueSeconds=0.2)
    expect(shown.failure).to_contain_text("hurried expired")
    expect(shown.failure).to_contain_text("Its turn did not come within the 0.2 s that it was willing to wait.")

    queue(daemon, "again", operation=push("list"))
    taps = [queue(daemon, "taps", coalesce={"key": "tab"}) for _ in range(2)]
    expect(shown.card("ended", "taps")).to_contain_text("A newer one for the same thing (tab) took its place in the queue.")
    # Else it would be granted, claimed by nobody, and the last that failed.
    end(daemon, taps[-1], "cancelled")
    end(daemon, menu)
    expect(shown.failure).to_contain_text("again was rejected")
    expect(shown.failure).to_contain_text("<nav> is pushing the same view controller instance <list> more than once")


def test_a_daemon_that_grants_nothing_says_so(tmp_path: Path, open_page: OpenPage) -> None:
    with MortalDaemon(tmp_path, "--data", str(tmp_path / "data")) as daemon:
        end(daemon, start(daemon, "menu"))
        daemon.kill()
        # What its end was cannot be told, so records may be missing, as after a power cut.
        with (tmp_path / "data" / "log-1").open("ab") as log:
            log.write(b"not what was written" * 10)
        daemon.start_again()
        shown = Shown(open_page, daemon)
        expect(shown.banner).to_contain_text(re.compile(r"Nothing is granted until \d\d:\d\d:\d\d: the machine died"))
        queue(daemon, "alert")
        expect(shown.card("waiting", "alert")).to_contain_text(
            "It waits until every lease is over that the daemon may have forgotten.")
        expect(shown.holder).to_contain_text("Nobody holds a lock in main.")


def test_a_finger_and_participants_are_shown(daemon: Daemon, open_page: OpenPage) -> None:
    shown = Shown(open_page, daemon)
    drag = start(daemon, "finger", interactive=True, participants=["clock", "banner"], readySeconds=60)
    card = shown.card("running", "finger")
    expect(card).to_contain_text("It has the lock, and waits for clock and banner to be ready.")
    expect(card.locator(".chip")).to_have_text(["clock is missing", "banner is missing"])
    daemon.ask("POST", "/transitions/progress", {"id": drag["id"], "token": drag["token"], "fraction": 0.42})
    expect(card).to_contain_text("The finger is at 42 %")


def test_a_longest_hold_that_ends_before_the_lease_is_said(daemon: Daemon, open_page: OpenPage) -> None:
    start(daemon, "menu", maxHoldSeconds=120)
    shown = Shown(open_page, daemon)
    words = "even if its owner renews it: it may hold it for 2 min at most"
    expect(shown.card("running", "menu").locator(".meter.clock")).to_contain_text(words)
    expect(shown.holder).to_contain_text(words)
    expect(shown.holder).not_to_contain_text("unless")


def test_what_was_before_the_first_known_tree_is_not_made_up(
    daemon: Daemon, context: BrowserContext, open_page: OpenPage
) -> None:
    declare(daemon, NAVIGATION)
    # As when the events before are no longer stored.
    scene = daemon.ask("GET", "/scenes/main")
    reset = json.dumps({**scene, "scene": "main", "number": scene["lastEvent"]})
    context.route("**/scenes/main/events*", lambda route: route.fulfill(
        content_type="text/event-stream", body=f"id: {scene['lastEvent']}\nevent: reset\ndata: {reset}\n\n"))
    shown = Shown(open_page, daemon)
    expect(shown.row("list")).to_be_visible()
    end(daemon, start(daemon, "menu", operation=push("editor")))
    expect(shown.row("editor")).to_be_visible()
    shown.page.get_by_role("button", name="One revision back").click()
    expect(shown.page.locator("#tree-note")).to_contain_text("Since when is not known here.")
    expect(shown.page.locator("#changes")).to_contain_text("What was before is not known here.")


def test_a_tree_that_was_only_read_is_no_change_in_the_timeline(daemon: Daemon, open_page: OpenPage) -> None:
    shown = Shown(open_page, daemon)
    marks = shown.page.evaluate("""async () => {
      const { Scale, TimelineDrawing } = await import('/page/timeline-drawing.js');
      const revisions = [{ revision: 7, at: 10, event: null }, { revision: 8, at: 20, event: {} }];
      const picture = {
        model: { revisions }, rows: { groups: [] }, scale: new Scale(0, 100, 500), height: 100, now: 90, nowWord: 'now',
        viewing: null, isMarked: () => false,
      };
      return new TimelineDrawing(document.createElement('canvas')).draw(picture).revisions.map(each => each.revision.revision);
    }""")
    assert marks == [8]


def test_counts_do_not_drift_from_what_is_known(daemon: Daemon, open_page: OpenPage) -> None:
    shown = Shown(open_page, daemon)
    counts = shown.page.evaluate("""async () => {
      const { SceneModel } = await import('/page/model.js');
      const model = new SceneModel('main');
      const at = '2026-01-01T00:00:00Z';
      const ticket = (id, more = {}) => ({ id, scope: 'scene', state: 'queued', requestedAt: at, ...more });
      const [first, second] = [ticket('t-1'), ticket('t-2')];
      const counts = [];
      // An answer is there before the events that have led to it.
      model.takeUnfinished({ running: [], queue: [first, second], runningCount: 0, queuedCount: 2 });
      [first, second].forEach((data, index) => model.takeEvent({ name: 'transition.queued', data: { ...data, number: index + 1 } }));
      counts.push(model.counts);
      const over = { state: 'ended', outcome: 'cancelled', endedAt: at };
      [first, second].forEach((data, index) => (
        model.takeEvent({ name: 'transition.ended', data: { ...data, ...over, number: index + 3 } })));
      counts.push(model.counts);
      // Of 300, the first 100 are shown.
      const shown = Array.from({ length: 100 }, (_, index) => ticket(`t-${index + 10}`, { position: index + 1 }));
      model.takeUnfinished({ running: [], queue: shown, runningCount: 1, queuedCount: 300, lastEvent: 4 });
      counts.push(model.counts);
      const granted = { ...ticket('t-900'), state: 'running', grantedAt: '2026-01-01T00:00:01Z', fence: 1, leaseSeconds: 10, number: 5 };
      model.takeEvent({ name: 'transition.running', data: granted });
      counts.push(model.counts);
      return counts.map(({ running, queued }) => [running, queued]);
    }""")
    assert counts == [[0, 2], [0, 0], [1, 300], [2, 299]]


def test_the_scene_that_is_followed_is_counted_by_its_events(
    daemon: Daemon, context: BrowserContext, open_page: OpenPage
) -> None:
    declare(daemon, NAVIGATION)
    stale = daemon.ask("GET", "/scenes")
    context.route("**/scenes?limit=200", lambda route: route.fulfill(json=stale))
    shown = Shown(open_page, daemon)
    button = shown.page.get_by_role("navigation", name="Scenes").get_by_role("button", name="main")
    expect(button).to_contain_text("idle")
    menu = start(daemon, "menu")
    queue(daemon, "alert")
    expect(button).to_contain_text("1 running")
    expect(button).to_contain_text("1 waiting")
    end(daemon, menu)
    expect(button).not_to_contain_text("waiting")


@pytest.mark.parametrize(("scene", "words"), [
    ("nothing", "There is no scene nothing yet: its first transition makes it, or its storyboard."),
    ("a%20b", "No scene can have the name “a b”."),
])
def test_a_scene_that_is_not_there_is_not_made_up(daemon: Daemon, open_page: OpenPage, scene: str, words: str) -> None:
    declare(daemon, NAVIGATION)
    shown = Shown(open_page, daemon, f"?scene={scene}")
    expect(shown.holder).to_have_text(words)
    expect(shown.page.locator("#tree-note")).to_have_text(words)
    expect(shown.page.locator("#scene-list > li")).to_have_count(1)


def test_what_happens_while_the_stream_begins_is_not_missed(
    daemon: Daemon, context: BrowserContext, open_page: OpenPage
) -> None:
    held = []

    def answer(route: Route) -> None:
        # The stream asks first, and is answered after the page and after what has happened meanwhile.
        held.append(route)
        if len(held) == 2:
            route.fulfill(status=404, json={"code": "unknown-scene"})
            end(daemon, start(daemon, "menu"), "cancelled")
            held[0].continue_()
        elif len(held) > 2:
            route.continue_()

    context.route("**/scenes/main", answer)
    shown = Shown(open_page, daemon)
    expect(shown.card("ended", "menu")).to_contain_text("Its owner gave it up.")
    expect(shown.holder).to_contain_text("Nobody holds a lock in main.")


def test_a_scene_comes_and_goes(daemon: Daemon, open_page: OpenPage) -> None:
    shown = Shown(open_page, daemon)
    expect(shown.holder).to_contain_text("There is no scene main yet")
    declare(daemon, NAVIGATION)
    expect(shown.holder).to_contain_text("Nobody holds a lock in main.")
    expect(shown.page.locator("#scene-list > li")).to_have_count(1)
    request = urllib.request.Request(f"{daemon.url}/scenes/main", method="DELETE")
    with urllib.request.urlopen(request, timeout=PATIENCE):
        pass
    expect(shown.holder).to_have_text("The scene main has been deleted.")
    expect(shown.page.locator("#scene-list > li")).to_have_count(0)


def test_a_scene_that_may_not_be_seen_is_not_shown_as_free(
    tmp_path: Path, context: BrowserContext, open_page: OpenPage
) -> None:
    errors = []
    context.on("weberror", lambda error: errors.append(str(error.error)))
    access = tmp_path / "access.yaml"
    token = new_token(access, "ops", "observe", scene="kitchen")
    with Daemon(tmp_path, "--access", str(access)) as daemon:
        shown = Shown(open_page, daemon)
        shown.page.get_by_label("Access token").fill(token)
        shown.page.get_by_role("button", name="Use this token").click()
        expect(shown.holder).to_have_text("You may not see the scene main.")
        expect(shown.next).to_have_text("Not known.")
        expect(shown.banner).to_contain_text("You are known as token:ops, and the scene main is not among your scenes.")
        assert errors == []


def test_the_scene_in_which_most_happens_is_opened(daemon: Daemon, open_page: OpenPage) -> None:
    declare(daemon, NAVIGATION, "a-first")
    end(daemon, start(daemon, "cook", scene="kitchen"))
    expect(Shown(open_page, daemon, "").failure).to_have_text("None of those that ended has failed.")
    declare(daemon, NAVIGATION, "b-second")
    start(daemon, "guest", scene="lobby")
    expect(Shown(open_page, daemon, "").holder).to_contain_text("guest has held")


def test_the_daemon_dies_and_returns(tmp_path: Path, open_page: OpenPage) -> None:
    with MortalDaemon(tmp_path, "--data", str(tmp_path / "journal")) as daemon:
        declare(daemon, NAVIGATION)
        menu = start(daemon, "menu", operation=push("editor"))
        shown = Shown(open_page, daemon)
        expect(shown.holder).to_contain_text("menu has held")
        daemon.kill()
        expect(shown.status).to_have_text("Not connected")
        expect(shown.banner).to_contain_text("does not answer. What you see is what was known last.")
        daemon.start_again()
        shown.is_connected()
        expect(shown.banner).to_be_hidden()
        end(daemon, menu)
        expect(shown.row("editor")).to_contain_text("visible")
        expect(shown.card("ended", "menu")).to_contain_text("Completed")


def test_a_daemon_without_a_journal_returns_and_knows_nothing(tmp_path: Path, open_page: OpenPage) -> None:
    with MortalDaemon(tmp_path) as daemon:
        declare(daemon, NAVIGATION)
        start(daemon, "menu", operation=push("editor"))
        shown = Shown(open_page, daemon)
        expect(shown.holder).to_contain_text("menu has held")
        daemon.kill()
        expect(shown.status).to_have_text("Not connected")
        daemon.start_again()
        expect(shown.card("ended", "menu")).to_contain_text("The daemon no longer knows how it ended")
        expect(shown.page.locator("#tree-note")).to_contain_text(re.compile("deleted|no scene main"))
        start(daemon, "alert")
        expect(shown.holder).to_contain_text("alert has held")


def test_the_page_asks_for_a_token_and_keeps_it_for_the_tab(
    tmp_path: Path, open_page: OpenPage, context: BrowserContext
) -> None:
    access = tmp_path / "access.yaml"
    token = new_token(access, "ops", "observe")
    with Daemon(tmp_path, "--access", str(access)) as daemon:
        shown = Shown(open_page, daemon)
        dialog = shown.page.get_by_role("dialog", name="This daemon wants to know who you are")
        expect(dialog).to_be_visible()
        dialog.get_by_label("Access token").fill("arbiter_wrong")
        dialog.get_by_role("button", name="Use this token").click()
        expect(dialog).to_contain_text("It does not know this token.")
        dialog.get_by_label("Access token").fill(token)
        dialog.get_by_role("button", name="Use this token").click()
        expect(shown.status).to_contain_text("as token:ops")
        expect(dialog).to_be_hidden()
        # Who may only look is offered nothing else.
        expect(shown.page.get_by_role("button", name="Start a transition…")).to_be_hidden()
        shown.page.reload()
        shown.is_connected()
        assert shown.page.evaluate("Object.keys(localStorage).length") == 0
        other = context.new_page()
        other.goto(daemon.url + "/")
        expect(other.get_by_label("Access token")).to_be_visible()


def test_who_may_not_look_is_told_so(tmp_path: Path, open_page: OpenPage) -> None:
    access = tmp_path / "access.yaml"
    token = new_token(access, "kiosk", "transition")
    with Daemon(tmp_path, "--access", str(access)) as daemon:
        shown = Shown(open_page, daemon)
        shown.page.get_by_label("Access token").fill(token)
        shown.page.get_by_role("button", name="Use this token").click()
        expect(shown.banner).to_contain_text("You are known as token:kiosk")
        expect(shown.banner).to_contain_text("the role observe is needed")


def test_names_full_of_html_stay_text(daemon: Daemon, open_page: OpenPage) -> None:
    declare(daemon, {**NAVIGATION, "segues": [{"identifier": EVIL, "source": "list", "kind": "show", "destination": "x"}]})
    shown = Shown(open_page, daemon)
    segue = {"type": "segue", "source": "list", "identifier": EVIL}
    holder = start(daemon, EVIL, operation=segue, participants=[EVIL + "2"], readySeconds=60)
    waiting = queue(daemon, EVIL + "3", coalesce={"key": EVIL})
    expect(shown.holder).to_contain_text(EVIL)
    expect(shown.card("waiting", "3")).to_contain_text(f"only one of “{EVIL}” waits")
    shown.card("running", EVIL).locator(".head .plain").click()
    expect(shown.record).to_contain_text(f"perform the segue {EVIL} of list")
    end(daemon, waiting, "cancelled")
    daemon.ask("POST", "/transitions/revoke", {"id": holder["id"], "reason": EVIL})
    expect(shown.failure).to_contain_text(f"took it away: “{EVIL}”")
    assert shown.page.evaluate("window.harm") is None
    assert shown.page.locator("img").count() == 0
    assert shown.page.locator("script").count() == 1


def test_no_request_leaves_the_host(daemon: Daemon, context: BrowserContext, open_page: OpenPage) -> None:
    urls = []
    context.on("request", lambda request: urls.append(request.url))
    refusals = []
    context.on("console", lambda message: refusals.append(message.text) if message.type == "error" else None)
    declare(daemon, NAVIGATION)
    shown = Shown(open_page, daemon)
    start(daemon, "menu", operation=push("editor"))
    shown.card("running", "menu").locator(".head .plain").click()
    expect(shown.record).to_contain_text("curl -s --json")
    shown.page.get_by_role("button", name="Declare a scene…").click()
    expect(shown.page.locator("#storyboard-check")).to_contain_text("Correct: 2 controllers")
    assert [url for url in urls if not url.startswith((daemon.url + "/", "data:"))] == []
    # Nothing of the page is against its own Content-Security-Policy.
    assert refusals == []


@pytest.mark.parametrize("name", ["nothing.js", "%3Cscript%3E", "page.html"])
def test_what_the_page_does_not_have_is_no_page(daemon: Daemon, name: str) -> None:
    with pytest.raises(urllib.error.HTTPError) as refusal:
        urllib.request.urlopen(f"{daemon.url}/page/{name}", timeout=PATIENCE)
    with urllib.request.urlopen(f"{daemon.url}/", timeout=PATIENCE) as page, refusal.value as answer:
        assert answer.code == 404
        for field in ["Content-Security-Policy", "X-Content-Type-Options", "Referrer-Policy"]:
            assert answer.headers[field] == page.headers[field] is not None


def test_windows_share_one_stream(daemon: Daemon, open_page: OpenPage) -> None:
    windows = [Shown(open_page, daemon) for _ in range(8)]
    for shown in windows:
        shown.is_connected()
        expect(shown.holder).to_contain_text("There is no scene main yet")
    start(daemon, "menu")
    for shown in windows:
        expect(shown.holder).to_contain_text("menu has held")
    assert daemon.requests().count("GET /events 200") == 1
