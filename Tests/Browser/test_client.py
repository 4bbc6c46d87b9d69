"""The JavaScript client in windows of one origin."""

from collections.abc import Callable
from pathlib import Path

import pytest
from daemon import Daemon
from pages import PageServer
from playwright.sync_api import Page

OpenPage = Callable[[str], Page]

# Begins a transition, and goes on; `result` is how it came out.
BEGIN = """url => {
  window.result = null;
  window.turn = (async () => {
    const { Arbiter } = await import(`${url}/client.js`);
    window.arbiter = new Arbiter({ url, client: 'window' });
    return arbiter.scene('main').withTransition(async transition => {
      window.held = transition;
      await new Promise(resolve => { window.finish = resolve; setTimeout(resolve, window.holds ?? 50); });
      return transition.fence;
    });
  })();
  turn.then(fence => { window.result = { fence }; }, error => { window.result = { error: error.message }; });
}"""


@pytest.fixture
def origin(pages: PageServer) -> str:
    """An origin that the browser takes for secure, as it must be for windows to share a stream."""
    return pages.origin("localhost")


def result(page: Page) -> dict:
    page.wait_for_function("window.result")
    return page.evaluate("result")


def test_more_windows_than_a_browser_has_connections_take_turns(
    tmp_path: Path, origin: str, open_page: OpenPage
) -> None:
    with Daemon(tmp_path, "--allow-origin", origin) as daemon:
        windows = [open_page(origin) for _ in range(10)]
        for window in windows:
            window.evaluate(BEGIN, daemon.url)
        fences = [result(window) for window in windows]
        assert sorted(each["fence"] for each in fences) == list(range(1, 11))
        assert {each["outcome"] for each in daemon.transitions()} == {"completed"}
        # All windows share one stream, and none parks a request.
        assert daemon.requests().count("GET /events 200") == 1


def test_a_window_is_told_of_a_loss_by_the_stream_of_another(tmp_path: Path, origin: str, open_page: OpenPage) -> None:
    with Daemon(tmp_path, "--allow-origin", origin) as daemon:
        leader, window = open_page(origin), open_page(origin)
        leader.evaluate(BEGIN, daemon.url)
        result(leader)
        window.evaluate("window.holds = 60000")
        window.evaluate(BEGIN, daemon.url)
        window.wait_for_function("window.held")
        daemon.ask("POST", "/transitions/revoke", {"id": window.evaluate("held.id"), "reason": "a test"})
        window.wait_for_function("held.signal.aborted")
        assert window.evaluate("held.signal.reason.outcome") == "revoked"


def test_the_next_window_reads_the_stream_when_the_first_is_closed(
    tmp_path: Path, origin: str, open_page: OpenPage
) -> None:
    with Daemon(tmp_path, "--allow-origin", origin) as daemon:
        leader, holder, waiter = (open_page(origin) for _ in range(3))
        leader.evaluate(BEGIN, daemon.url)
        result(leader)
        holder.evaluate("window.holds = 60000")
        holder.evaluate(BEGIN, daemon.url)
        holder.wait_for_function("window.held")
        waiter.evaluate(BEGIN, daemon.url)
        leader.close()
        holder.evaluate("finish()")
        assert result(holder)["fence"] < result(waiter)["fence"]


# Keeps the hierarchy of a scene; `kept` is the newest.
KEEP = """async url => {
  const { Arbiter } = await import(`${url}/client.js`);
  window.arbiter = new Arbiter({ url, client: 'window' });
  window.hierarchy = await arbiter.scene('main').hierarchy();
  return hierarchy.revision;
}"""
# Hears the events of a scene.
FOLLOW = """url => {
  window.heard = [];
  (async () => { for await (const event of arbiter.scene('main').events()) heard.push(event.name); })();
}"""
NAV = {"root": {"id": "nav", "kind": "navigation", "children": ["list"]}}


def push(daemon: Daemon, controller: str) -> None:
    operation = {"type": "push", "navigation": "nav", "controller": controller}
    begun = daemon.ask("POST", "/transitions/start", {"scene": "main", "operation": operation})
    daemon.ask("POST", "/transitions/end", {"id": begun["id"], "token": begun["token"]})


def has(window: Page, revision: int, top: str) -> None:
    """Returns when the window keeps this revision, with this controller at the top."""
    window.wait_for_function("revision => hierarchy.revision >= revision", arg=revision)
    assert window.evaluate("[hierarchy.revision, hierarchy.controller('nav').children.at(-1).id]") == [revision, top]


def test_windows_keep_a_hierarchy_with_one_stream(tmp_path: Path, origin: str, open_page: OpenPage) -> None:
    with Daemon(tmp_path, "--allow-origin", origin) as daemon:
        daemon.ask("PUT", "/scenes/main/storyboard", NAV)
        windows = [open_page(origin) for _ in range(10)]
        for window in windows:
            assert window.evaluate(KEEP, daemon.url) == 1
            window.evaluate(FOLLOW, daemon.url)
        push(daemon, "a")
        for window in windows:
            has(window, 2, "a")
        # The one that reads the stream is closed, and another one reads on without a gap.
        windows.pop(0).close()
        for number, controller in enumerate("bcd"):
            push(daemon, controller)
            for window in windows:
                has(window, 3 + number, controller)
        for window in windows:
            window.wait_for_function("heard.includes('hierarchy.changed')")
            assert not window.evaluate("heard.includes('reset')")
        requests = daemon.requests()
        assert requests.count("GET /events 200") == 2
        assert "GET /scenes/main/events 200" not in requests


def test_a_page_that_comes_back_works_again(tmp_path: Path, origin: str, open_page: OpenPage) -> None:
    with Daemon(tmp_path, "--allow-origin", origin) as daemon:
        daemon.ask("PUT", "/scenes/main/storyboard", NAV)
        window = open_page(origin)
        window.evaluate(KEEP, daemon.url)
        window.evaluate("window.holds = 60000")
        window.evaluate(BEGIN, daemon.url)
        window.wait_for_function("window.held")
        # As it goes into the back/forward cache.
        window.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))")
        # What it holds is lost at once, whatever the daemon has heard so far.
        assert window.evaluate("[held.signal.aborted, held.signal.reason.outcome, held.signal.reason.reason]") == [
            True, "expired", "session-lost"]
        window.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
        assert window.evaluate("arbiter.scene('main').withTransition(transition => transition.fence)") == 2
        push(daemon, "a")
        has(window, 2, "a")
        assert [each["outcome"] for each in daemon.transitions()] == ["expired", "completed", "completed"]


def test_a_client_that_is_closed_leaves_the_stream_to_the_others(tmp_path: Path, origin: str, open_page: OpenPage) -> None:
    with Daemon(tmp_path, "--allow-origin", origin) as daemon:
        daemon.ask("PUT", "/scenes/main/storyboard", NAV)
        window = open_page(origin)
        window.evaluate(KEEP, daemon.url)
        window.evaluate("window.first = arbiter")
        window.evaluate(KEEP, daemon.url)
        window.evaluate("first.close()")
        push(daemon, "a")
        has(window, 2, "a")
        # With the last one the stream ends, and the next client begins another.
        window.evaluate("arbiter.close()")
        window.evaluate(KEEP, daemon.url)
        push(daemon, "b")
        has(window, 3, "b")
        assert daemon.requests().count("GET /events 200") == 2


def test_a_window_that_comes_back_reads_what_it_has_missed(tmp_path: Path, origin: str, open_page: OpenPage) -> None:
    with Daemon(tmp_path, "--allow-origin", origin) as daemon:
        daemon.ask("PUT", "/scenes/main/storyboard", NAV)
        leader, window = open_page(origin), open_page(origin)
        leader.evaluate(KEEP, daemon.url)
        # In the back/forward cache it hears nothing of the other windows.
        window.evaluate("""() => {
          const Channel = window.BroadcastChannel;
          window.BroadcastChannel = class extends Channel {
            set onmessage(take) { super.onmessage = event => { if (!window.isFrozen) take(event); }; }
          };
        }""")
        window.evaluate(KEEP, daemon.url)
        push(daemon, "a")
        has(window, 2, "a")
        window.evaluate("window.isFrozen = true; dispatchEvent(new PageTransitionEvent('pagehide', { persisted: true }))")
        push(daemon, "b")
        has(leader, 3, "b")
        window.evaluate("window.isFrozen = false; dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
        has(window, 3, "b")


def test_no_name_that_a_script_of_the_origin_can_list_tells_the_token(daemon: Daemon, open_page: OpenPage) -> None:
    # The daemon knows no tokens, so that it takes any.
    token = "arbiter_5ec2e7"
    page = open_page(f"{daemon.url}/livez")
    page.evaluate("""() => {
      window.channels = [];
      window.BroadcastChannel = class extends BroadcastChannel {
        constructor(name) { super(name); channels.push(name); }
      };
    }""")
    page.evaluate("""async token => {
      const { Arbiter } = await import('/client.js');
      window.arbiter = new Arbiter({ token });
      await arbiter.scene('main').withTransition(() => {});
    }""", token)
    names = page.evaluate("""async () => {
      const { held, pending } = await navigator.locks.query();
      return {
        locks: [...held, ...pending].map(({ name }) => name), channels,
        others: [document.title, document.cookie, location.href, ...Object.keys(localStorage), ...Object.keys(sessionStorage),
          ...performance.getEntries().map(({ name }) => name), ...await caches.keys(),
          ...(await indexedDB.databases()).map(({ name }) => name)],
      };
    }""")
    # The stream is shared, by one name.
    assert len(names["locks"]) == 1 and names["channels"] == names["locks"], names
    assert not [name for each in names.values() for name in each if token in name], names


def test_clients_with_different_tokens_share_nothing(daemon: Daemon, open_page: OpenPage) -> None:
    page = open_page(f"{daemon.url}/livez")
    names = page.evaluate("""async () => {
      const { Arbiter } = await import('/client.js');
      window.arbiters = ['a', 'b', 'b'].map(token => new Arbiter({ token }));
      await Promise.all(arbiters.map(each => each.scene('main').withTransition(() => {})));
      return (await navigator.locks.query()).held.map(({ name }) => name);
    }""")
    assert len(set(names)) == len(names) == 2, names


def test_a_page_that_has_no_locks_reads_a_stream_of_its_own(daemon: Daemon, open_page: OpenPage) -> None:
    page = open_page(f"{daemon.url}/livez")
    fence = page.evaluate("""async () => {
      Object.defineProperty(navigator, 'locks', { value: undefined });
      const { Arbiter } = await import('/client.js');
      window.arbiter = new Arbiter({ shared: true });
      return arbiter.scene('main').withTransition(({ fence }) => fence);
    }""")
    assert fence == 1
    # The list of requests has those whose answers have begun.
    page.evaluate("(async () => { for await (const _ of arbiter.scene('main').events()) window.heard = true; })(), null")
    daemon.ask("POST", "/transitions/start", {"scene": "main"})
    page.wait_for_function("window.heard")
    assert daemon.requests().count("GET /events 200") == 1
