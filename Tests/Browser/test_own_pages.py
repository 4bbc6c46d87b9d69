"""What pages can do that the daemon itself has shown."""

from collections.abc import Callable

import pytest
from daemon import Daemon
from pages import PAGE
from playwright.sync_api import Page

SCRIPT = PAGE.decode().partition("<script>")[2].partition("</script>")[0]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
@pytest.mark.parametrize("path", ["/livez", "/scenes"])
def test_a_page_of_the_daemon_is_a_client_without_being_allowed(
    daemon: Daemon, open_page: Callable[[str], Page], host: str, path: str
) -> None:
    page = open_page(f"http://{host}:{daemon.port}{path}")
    page.add_script_tag(content=SCRIPT)
    page.evaluate("follow('/scenes/main/events', 'transition.running', 'transition.ended')")
    page.wait_for_function("happened.some(entry => entry.event === 'open')")

    started = page.evaluate("ask('POST', '/transitions/start', { client: 'own', leaseSeconds: 300 })")
    assert (started["type"], started["status"]) == ("basic", 201)
    busy = page.evaluate("ask('POST', '/transitions/start')")
    assert (busy["status"], busy["body"]["code"]) == (409, "busy")
    assert [each["client"] for each in daemon.transitions()] == ["own"]

    ended = page.evaluate("({ id, token }) => ask('POST', '/transitions/end', { id, token })", started["body"])
    assert (ended["status"], ended["body"]["outcome"]) == (200, "completed")
    assert [each["outcome"] for each in daemon.transitions()] == ["completed"]
    page.wait_for_function("happened.length === 3")
    assert [entry["event"] for entry in page.evaluate("happened")] == ["open", "transition.running", "transition.ended"]
    # Nothing had to be asked in advance.
    assert [request for request in daemon.requests() if request.startswith("OPTIONS")] == []
