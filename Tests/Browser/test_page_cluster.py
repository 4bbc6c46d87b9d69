"""The daemon's own page on a node of a cluster: which nodes serve which shards."""

from axe_playwright_python.sync_playwright import Axe
from daemon import Daemon
from playwright.sync_api import BrowserContext, expect
from shown import OpenPage, Shown

A, B = "http://10.0.0.1:7080", "http://<b>10.0.0.2</b>:7080"


def cluster(*owners: tuple[int, str, int], moves: list[dict] | None = None) -> dict:
    return {
        "shards": 6, "node": A, "nodes": [{"address": A, "version": "7.0"}, {"address": B, "version": "7.1"}],
        "owners": [{"shard": shard, "node": node, "tenure": tenure} for shard, node, tenure in owners],
        "moves": moves or [],
    }


def test_nodes_shards_and_moves_are_shown(daemon: Daemon, context: BrowserContext, open_page: OpenPage) -> None:
    answer = cluster((0, A, 5), (1, A, 5), (2, A, 5), (3, B, 6), (4, B, 6), (5, A, 7))
    context.route("**/cluster", lambda route: route.fulfill(json=answer))
    shown = Shown(open_page, daemon)
    shown.page.get_by_role("button", name="2 nodes", exact=True).click()
    dialog = shown.page.get_by_role("dialog", name="Nodes")
    expect(dialog.get_by_role("status")).to_have_text("Each of the 6 shards is served.")
    rows = dialog.locator("tbody tr")
    expect(rows).to_have_text([f"{A} (answers this page)40–2, 57.0", f"{B}23–47.1"])
    expect(dialog).to_contain_text("None has moved since this node began.")
    # The other node dies, and one of its shards has a new owner.
    answer.update(cluster(
        (0, A, 5), (1, A, 5), (2, A, 5), (4, A, 9), (5, A, 7),
        moves=[{"at": "2026-11-24T09:00:00.000Z", "shard": 4, "from": B, "to": A, "tenure": 9}]))
    answer["nodes"].pop()
    answer["waitsFor"] = "an owner of each of the 6 shards"
    expect(dialog.get_by_role("status")).to_have_text(
        "Nobody serves 1 shard of 6: 3. This node waits for an owner of each of the 6 shards.")
    # The damaged journal of the shard that nobody serves is named.
    answer["unserved"] = [{"shard": 3, "node": A, "reason": "its journal <i>ends</i> at 7"}]
    del answer["waitsFor"]
    expect(dialog.get_by_role("status")).to_have_text(
        f"Nobody serves 1 shard of 6: 3. {A} cannot serve shard 3: its journal <i>ends</i> at 7.")
    expect(rows).to_have_text([f"{A} (answers this page)50–2, 4–57.0"])
    expect(dialog.get_by_role("listitem")).to_have_count(1)
    expect(dialog.get_by_role("listitem")).to_contain_text(f"shard 4 from {B} to {A}, tenure 9")
    expect(dialog.get_by_text("None has moved")).to_be_hidden()
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_be_hidden()
    expect(shown.page.get_by_role("button", name="1 node, 1 shard not served")).to_be_focused()


def test_axe_finds_no_violation_in_the_nodes(daemon: Daemon, context: BrowserContext, open_page: OpenPage) -> None:
    context.route("**/cluster", lambda route: route.fulfill(json=cluster((0, A, 5), (1, B, 6))))
    shown = Shown(open_page, daemon)
    shown.page.get_by_role("button", name="2 nodes, 4 shards not served").click()
    expect(shown.page.get_by_role("dialog", name="Nodes")).to_be_visible()
    results = Axe().run(shown.page)
    assert results.violations_count == 0, results.generate_report()


def test_a_daemon_of_its_own_shows_no_nodes(daemon: Daemon, open_page: OpenPage) -> None:
    shown = Shown(open_page, daemon)
    shown.is_connected()
    with shown.page.expect_request("**/whoami"), shown.page.expect_request("**/scenes?*"):
        pass
    expect(shown.page.locator("#cluster-open")).to_be_hidden()
    # It is asked once, since it never becomes a node.
    with shown.page.expect_request("**/whoami"):
        pass
    asked = shown.page.evaluate("() => performance.getEntriesByType('resource').filter(each => each.name.endsWith('/cluster')).length")
    assert asked == 1
