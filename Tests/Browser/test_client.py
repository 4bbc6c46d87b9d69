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
