"""The daemon's own page: what it says of time that is left, and of what it does not know."""

import json
import re
from pathlib import Path

from daemon import Daemon
from playwright.sync_api import expect
from shown import NAVIGATION, MortalDaemon, OpenPage, Shown, declare, end, push, queue, recording, start

# A scene whose clock stands at an instant, in seconds, and a transition of it.
MODEL = """
  const { SceneModel } = await import('/page/model.js');
  const { lossWords } = await import('/page/words.js');
  let now = 0;
  const text = seconds => new Date(seconds * 1000).toISOString();
  const model = new SceneModel('main', { clock: () => now * 1000 });
  const transition = (more = {}) => ({
    id: 't-1', scope: 'scene', state: 'running', requestedAt: text(0), grantedAt: text(0), fence: 1, leaseSeconds: 20, ...more,
  });
  let number = 0;
  const hear = (name, data) => model.takeEvent({ name, data: { ...data, number: number += 1, at: text(now) } });
  const words = () => lossWords(model.transition('t-1'), model.now()).replaceAll('\\u00a0', ' ');
"""


def evaluate(shown: Shown, script: str) -> object:
    return shown.page.evaluate(f"async () => {{ {MODEL} {script} }}")


def test_an_event_does_not_refill_a_lease(daemon: Daemon, open_page: OpenPage) -> None:
    said = evaluate(Shown(open_page, daemon), """
      hear('transition.running', transition());
      const said = [words()];
      now = 8;
      hear('transition.contended', transition({ waiting: 1 }));
      said.push(words());
      model.take(transition({ leaseRemaining: 17 }));
      now = 10;
      hear('transition.contended', transition({ waiting: 2 }));
      said.push(words());
      return said;
    """)
    assert said == [f"It loses the lock in {left} s unless its owner renews it" for left in (20, 12, 15)]


def test_a_grant_from_the_queue_begins_with_the_time_to_claim_it(daemon: Daemon, open_page: OpenPage) -> None:
    said = evaluate(Shown(open_page, daemon), """
      const waiting = { state: 'queued', grantedAt: undefined, fence: undefined, leaseSeconds: 60, blockers: [] };
      model.takeScene({
        revision: 0, lastEvent: 0, running: [], queue: [], runningCount: 0, queuedCount: 0, limits: { claimSeconds: 4 },
      });
      hear('transition.queued', transition(waiting));
      now = 10;
      const granted = transition({ leaseSeconds: 60, grantedAt: text(10) });
      hear('transition.running', granted);
      const said = [words()];
      now = 11;
      model.take({ ...granted, leaseRemaining: 3 });
      said.push(words());
      // Its owner is there.
      model.take({ ...granted, leaseRemaining: 59.9 });
      said.push(words());
      return said;
    """)
    assert said == [
        "It has 4.0 s to take its turn", "It has 3.0 s to take its turn", "It loses the lock in 60 s unless its owner renews it"]


def test_who_has_yet_to_take_its_turn_is_shown(daemon: Daemon, open_page: OpenPage) -> None:
    menu = start(daemon, "menu")
    queue(daemon, "alert", leaseSeconds=300)
    shown = Shown(open_page, daemon)
    expect(shown.next).to_contain_text("alert has waited")
    end(daemon, menu)
    head, *events = recording(daemon).splitlines(keepends=True)
    expect(shown.failure).to_contain_text("Its turn came, but its owner was not there to take it.")
    # Before that it was shown for five seconds. In a recording, the clock stands.
    granted = json.loads(head)
    granted["scenes"][0]["running"][0]["leaseRemaining"] = 5
    shown.drop(json.dumps(granted) + "\n" + "".join(events))
    expect(shown.holder).to_contain_text(re.compile(r"alert.* It has 5\.0\ss to take its turn\."))
    expect(shown.card("running", "alert").locator(".meter.clock")).to_contain_text("to take its turn")


def test_a_lease_that_may_have_been_renewed_is_not_said_to_be_over(daemon: Daemon, open_page: OpenPage) -> None:
    said = evaluate(Shown(open_page, daemon), """
      hear('transition.running', transition({ leaseSeconds: 0.5 }));
      now = 1;
      return words();
    """)
    assert said == "Its lease of 500 ms is over, unless its owner has renewed it. Nothing newer is known"


def test_a_lease_is_asked_for_before_it_is_over(daemon: Daemon, open_page: OpenPage) -> None:
    said = evaluate(Shown(open_page, daemon), """
      const { pauseOf } = await import('/page/live.js');
      const said = [];
      for (const leaseSeconds of [1, 2, 60]) {
        model.take(transition({ leaseSeconds, leaseRemaining: leaseSeconds }));
        const pause = pauseOf(model.granted, model.now()) / 1000;
        const begun = now;
        now += pause;
        said.push([pause, words()]);
        now = begun;
      }
      return said;
    """)
    left = [f"It loses the lock in {time} unless its owner renews it" for time in ("250 ms", "500 ms", "59 s")]
    assert said == [[0.75, left[0]], [1.5, left[1]], [1.5, left[2]]]


def test_nobody_makes_up_when_a_transition_ended(tmp_path: Path, open_page: OpenPage) -> None:
    with MortalDaemon(tmp_path) as daemon:
        start(daemon, "menu")
        shown = Shown(open_page, daemon)
        expect(shown.holder).to_contain_text("menu has held")
        daemon.kill()
        expect(shown.status).to_have_text("Not connected")
        daemon.start_again()
        card = shown.card("ended", "menu")
        expect(card).to_contain_text("It is not known when it ended.")
        expect(card).not_to_contain_text("held the lock for")
        expect(card.locator(".when")).to_be_empty()
        expect(shown.failure).not_to_contain_text("ago")
        card.locator(".plain").click()
        expect(shown.record).to_contain_text("Granted at")
        expect(shown.record).not_to_contain_text("Ended at")


def test_a_deletion_is_no_declaration(daemon: Daemon, open_page: OpenPage) -> None:
    declare(daemon, NAVIGATION)
    end(daemon, start(daemon, "menu", operation=push("editor")))
    shown = Shown(open_page, daemon)
    expect(shown.row("editor")).to_be_visible()
    daemon.delete("/scenes/main")
    expect(shown.page.locator("#revision-label")).to_have_text("Deleted, now")
    declare(daemon, NAVIGATION)
    expect(shown.row("list")).to_be_visible()
    shown.page.get_by_role("button", name="One revision back").click()
    expect(shown.page.locator("#changes")).to_contain_text("The scene was deleted at")
    expect(shown.page.locator("#changes")).not_to_contain_text("declaration")
    expect(shown.page.locator("#tree")).to_contain_class("earlier")
    shown.page.get_by_role("button", name="Back to now").click()
    expect(shown.page.locator("#tree")).not_to_contain_class("earlier")


def test_a_ticket_behind_many_waits_for_the_one_before_it(daemon: Daemon, open_page: OpenPage) -> None:
    start(daemon, "menu")
    for number in range(14):
        queue(daemon, f"w{number + 1}.")
    shown = Shown(open_page, daemon)
    # The daemon names eight of those that are before it.
    for number in range(9, 15):
        expect(shown.card("waiting", f"w{number}.")).to_contain_text(f"It waits because w{number - 1}., which asked before it")
    # Lines end at what can be seen.
    shown.page.set_viewport_size({"width": 1440, "height": 3400})
    expect(shown.page.locator("#wires-drawn path")).to_have_count(14)
    shown.card("waiting", "w14.").locator(".plain").click()
    expect(shown.record).to_contain_text("and 10 more")


def test_a_ticket_whose_nearest_blockers_are_not_known_says_so(daemon: Daemon, open_page: OpenPage) -> None:
    said = evaluate(Shown(open_page, daemon), """
      const { Blockers } = await import('/page/blockers.js');
      const ids = Array.from({ length: 8 }, (_, index) => `t-${index + 10}`);
      const waiting = { state: 'queued', grantedAt: undefined, fence: undefined };
      const tickets = ids.map((id, index) => transition({ ...waiting, id, client: id, position: index + 1, blockers: ['t-0'] }));
      model.takeUnfinished({ running: [transition({ id: 't-0' })], queue: tickets, runningCount: 1, queuedCount: 20, lastEvent: 0 });
      hear('transition.queued', transition({ ...waiting, id: 't-30', position: 21, blockers: ids }));
      return new Blockers(model).words(model.transition('t-30'));
    """)
    assert "Only the first 8 that it waits for are known here." in said
