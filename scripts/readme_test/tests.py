"""Tests of scripts/readme-test: it must find outputs that differ from the page. Needs a daemon, as it does."""

import subprocess
import tempfile
import unittest
from pathlib import Path

from readme_test.comparison import Comparison, Mismatch, parse_shortened
from readme_test.metrics import exposed, forgotten
from readme_test.names import Tree, is_replaced, missing_calls, missing_names, quoted
from readme_test.operations import PAGE, PLACES, SWIFT_CLIENT, members_of, types_of
from readme_test.operations import forgotten as forgotten_of_operations
from readme_test.pages import read_page

RUNNER = Path(__file__).resolve().parent.parent / "readme-test"
ID, OTHER_ID, THIRD_ID = "t-3feds0w5b8enn", "t-bb34bw46c3y3q", "t-cmhy30hvcj336"
TOKEN, OTHER_TOKEN = "5b3316828b258b16f8299d6ebc3e70eb", "77965ccf34e1b0d4339ba7f3f782db9c"
TIME, OTHER_TIME = "2026-11-21T10:41:52.612Z", "2026-11-21T10:41:54.700Z"


class ComparisonTests(unittest.TestCase):
    def assert_same(self, expected: str, actual: str, comparison: Comparison | None = None) -> None:
        (comparison or Comparison()).check(expected.split("\n"), actual.split("\n"))

    def assert_differs(self, expected: str, actual: str, reason: str, comparison: Comparison | None = None) -> None:
        with self.assertRaisesRegex(Mismatch, reason):
            self.assert_same(expected, actual, comparison)

    def test_equal_answers_are_the_same(self) -> None:
        answer = f'{{"id":"{ID}","position":1,"laggards":[],"interactive":true,"operation":{{"type":"push"}}}}'
        self.assert_same(answer, answer)

    def test_ids_tokens_and_times_may_be_others(self) -> None:
        page = f'{{"id":"{ID}","token":"{TOKEN}","at":"{TIME}"}}'
        self.assert_same(page, f'{{"id":"{OTHER_ID}","token":"{OTHER_TOKEN}","at":"{OTHER_TIME}"}}')

    def test_an_id_must_have_the_form_of_an_id(self) -> None:
        self.assert_differs(f'{{"id":"{ID}"}}', f'{{"id":"{ID[:-1]}"}}', "instead of")
        self.assert_differs(f'{{"token":"{TOKEN}"}}', f'{{"token":"{TOKEN[:-1]}"}}', "instead of")
        self.assert_differs(f'{{"at":"{TIME}"}}', '{"at":"now"}', "instead of")
        self.assert_differs(f'{{"id":"{ID}"}}', '{"id":7}', "instead of")

    def test_another_state_differs(self) -> None:
        self.assert_differs('{"state":"running"}', '{"state":"queued"}', '"state" of the answer is "queued"')

    def test_another_number_differs(self) -> None:
        self.assert_differs('{"fence":1}', '{"fence":2}', "is 2 instead of 1")
        self.assert_differs('{"fence":1}', '{"fence":true}', "instead of")
        self.assert_differs('{"fence":1}', '{"fence":"1"}', "instead of")
        self.assert_differs('{"applied":true}', '{"applied":false}', "instead of")

    def test_what_is_counted_down_is_at_most_what_the_page_shows(self) -> None:
        self.assert_same('{"leaseRemaining":10}', '{"leaseRemaining":9.828}')
        self.assert_differs('{"leaseRemaining":10}', '{"leaseRemaining":10.5}', "not between")
        self.assert_differs('{"leaseRemaining":10}', '{"leaseRemaining":null}', "instead of")

    def test_what_is_counted_up_is_at_least_what_the_page_shows(self) -> None:
        self.assert_same('{"idleFor":0.5}', '{"idleFor":0.501}')
        self.assert_differs('{"idleFor":0.5}', '{"idleFor":0.499}', "less than")
        self.assert_differs('{"idleFor":0.5}', '{"idleFor":"0.5"}', "instead of")

    def test_a_member_too_many_or_too_few_differs(self) -> None:
        self.assert_differs('{"a":1}', '{"a":1,"b":2}', 'has the member "b"')
        self.assert_differs('{"a":1,"b":2}', '{"a":1}', 'nothing more where "b"')
        self.assert_differs('{"a":1,"b":2}', '{"b":2,"a":1}', 'has "b" where "a"')

    def test_members_may_be_left_out(self) -> None:
        actual = f'{{"id":"{ID}","scene":"main","state":"running","fence":1}}'
        for page in (
            f'{{"id":"{ID}","state":"running",…}}',
            f'{{"id": "{ID}", "fence": 1, …}}',
            f'{{"id":"{ID}",…,"state":"running",…}}',
            f'{{"id":"{ID}","scene":"main",…,"state":"running","fence":1}}',
            '{"id":"t-…","scene":"…","state":…,"fence":1}',
            '{…,"fence":1}',
            "{…}",
            f'{{"id":"{ID}",…',
        ):
            self.assert_same(page, actual)

    def test_what_is_left_out_does_not_hide_what_differs(self) -> None:
        actual = f'{{"id":"{ID}","scene":"main","state":"running","fence":1}}'
        self.assert_differs(f'{{"id":"{ID}",…,"state":"ended",…}}', actual, '"running" instead of "ended"')
        self.assert_differs(f'{{"id":"{ID}",…,"outcome":"completed",…}}', actual, 'nothing more where "outcome"')
        self.assert_differs(f'{{"id":"{ID}",…,"state":"running"}}', actual, 'has the member "fence"')
        self.assert_differs(f'{{"id":"{ID}","state":"ended",…}}', actual, '"running" instead of "ended"')
        self.assert_differs(f'{{"id":"{ID}","outcome":"completed",…}}', actual, 'nothing more where "outcome"')
        self.assert_differs('{…,"state":"running","scene":"main"}', actual, 'has "fence" where "scene"')
        self.assert_differs('{"state":"running","scene":"main",…}', actual, 'nothing more where "scene"')
        self.assert_differs(f'{{"id":"{ID}",…,"state":"queued",…', actual, "instead of")
        self.assert_differs('{"id":"s-…",…}', actual, "instead of")

    def test_an_object_inside_shows_for_itself_what_it_leaves_out(self) -> None:
        actual = '{"a":{"b":1,"c":2,"d":3},"e":4}'
        self.assert_same('{"a":{"b":1,"d":3,…},"e":4}', actual)
        self.assert_differs('{"a":{"b":1,"d":3},…}', actual, 'has "c" where "d"')
        self.assert_differs('{"a":{"b":1,…,"d":3},"f":4}', actual, 'has "e" where "f"')

    def test_nested_values_are_compared(self) -> None:
        page = '{"children":[{"id":"list"},{"id":"editor",…}],…}'
        self.assert_same(page, '{"children":[{"id":"list"},{"id":"editor","kind":"view"}],"revision":1}')
        self.assert_differs(page, '{"children":[{"id":"list"},{"id":"detail","kind":"view"}]}', '"id" of element 1')
        self.assert_differs(page, '{"children":[{"id":"list"}]}', "1 elements instead of 2")
        self.assert_differs(page, '{"children":{"id":"list"}}', "an object instead of an array")
        self.assert_differs("[1,…]", "[]", "0 elements")
        self.assert_same("[1,…]", "[1,2,3]")

    def test_an_id_shown_twice_must_be_the_same_twice(self) -> None:
        page = f'{{"id":"{ID}"}}\n{{"supersededBy":"{ID}"}}'
        self.assert_same(page, f'{{"id":"{OTHER_ID}"}}\n{{"supersededBy":"{OTHER_ID}"}}')
        self.assert_differs(page, f'{{"id":"{OTHER_ID}"}}\n{{"supersededBy":"{THIRD_ID}"}}', "has been")

    def test_two_ids_must_not_be_the_same(self) -> None:
        page = f'{{"id":"{ID}","supersededBy":"{OTHER_ID}"}}'
        self.assert_differs(page, f'{{"id":"{THIRD_ID}","supersededBy":"{THIRD_ID}"}}', "has called")

    def test_ids_are_remembered_from_one_command_to_the_next(self) -> None:
        comparison = Comparison()
        self.assert_same(f'{{"id":"{ID}"}}', f'{{"id":"{OTHER_ID}"}}', comparison)
        self.assert_same(f"menu ({ID}) is in the way", f"menu ({OTHER_ID}) is in the way", comparison)
        self.assert_differs(f"menu ({ID}) is in the way", f"menu ({ID}) is in the way", "has been", comparison)

    def test_a_time_shown_twice_must_be_the_same_twice(self) -> None:
        page = f'{{"endedAt":"{TIME}"}}\n{{"grantedAt":"{TIME}"}}'
        self.assert_differs(page, f'{{"endedAt":"{TIME}"}}\n{{"grantedAt":"{OTHER_TIME}"}}', "has been")
        page = f'{{"requestedAt":"{TIME}","grantedAt":"{OTHER_TIME}"}}'
        self.assert_same(page, f'{{"requestedAt":"{TIME}","grantedAt":"{TIME}"}}')

    def test_lines_are_compared_one_by_one(self) -> None:
        self.assert_same("a\n\nb", "a\nb\n")
        self.assert_differs("a\nb", "a", "this line is missing: b")
        self.assert_differs("a", "a\nb", "does not show this line: b")
        self.assert_differs("", "bash: line 1: crul: command not found", "does not show this line")
        self.assert_differs('{"a":1}', "Bad Gateway", "is not JSON")
        self.assert_same("ready on …", "ready on http://localhost:8080")
        self.assert_differs("ready on …", "is ready", "instead of")

    def test_events_are_compared(self) -> None:
        page = f'id: 6\nevent: transition.ended\ndata: {{"id":"{ID}",…,"outcome":"expired"}}\n'
        event = f'id: 6\nevent: transition.ended\ndata: {{"id":"{ID}","state":"ended","outcome":"expired"}}\n'
        self.assert_same(page, event)
        self.assert_same(page, ": keep-alive\n\n" + event)
        self.assert_differs(page, event.replace("id: 6", "id: 7"), "id: 7")
        self.assert_differs(page, event.replace("transition.ended", "session.ended"), "session.ended")
        self.assert_differs(page, event.replace("expired", "completed"), "completed")

    def test_a_line_that_is_not_json_on_the_page_is_an_error(self) -> None:
        with self.assertRaisesRegex(Mismatch, "neither JSON nor shortened JSON"):
            parse_shortened('{"a":}')


class PageTests(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory(prefix="readme-test-")
        self.addCleanup(directory.cleanup)
        self.page = Path(directory.name) / "page.md"

    def run_page(self, text: str) -> subprocess.CompletedProcess[str]:
        self.page.write_text(text, encoding="utf-8")
        return self.run_pages(self.page)

    def run_pages(self, *pages: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run([RUNNER, *pages], capture_output=True, text=True, timeout=120)

    def test_blocks_are_read_with_their_terminals(self) -> None:
        self.page.write_text(
            "# One\n```console\n$ a \\\n> b\nout\n\nmore\n$ c\n```\n```console second terminal\n$ d\n```\n"
            "```console second terminal\nlate\n```\n## None\n```sh\n$ e\n# no heading\n```\n"
            "## Two\n```console\n$ f\n```\n"
        )
        steps = read_page(self.page)
        self.assertEqual([step.section for step in steps], 4 * ["One"] + ["Two"])
        self.assertEqual([step.command for step in steps], ["a \\\nb", "c", "d", None, "f"])
        self.assertEqual([step.output for step in steps], [["out", "", "more"], [], [], ["late"], []])
        terminals = 2 * ["first terminal"] + 2 * ["second terminal"] + ["first terminal"]
        self.assertEqual([step.terminal for step in steps], terminals)
        self.assertEqual([step.stays for step in steps], [False, False, True, False, False])

    def test_each_page_has_a_daemon_of_its_own(self) -> None:
        start = "$ curl -s -X POST localhost:8080/transitions/start\n"
        self.page.write_text(
            f'# One\n```console\n{start}{{"id":"{ID}","state":"running","fence":1,…}}\n```\n'
            f'# Two\n```console\n{start}{{"status":409,…}}\n```\n'
        )
        result = self.run_pages(self.page, self.page)
        self.assertEqual((result.returncode, result.stdout.splitlines()[-1]), (0, "4 passed, 0 failed"), result.stdout)

    def test_a_page_can_look_at_its_journal(self) -> None:
        result = self.run_page("# Section\n```console\n$ .build/release/arbiterd journal verify\n… is sound: …\n```\n")
        self.assertEqual((result.returncode, result.stdout.splitlines()[-1]), (0, "1 passed, 0 failed"), result.stdout)

    def test_a_wrong_answer_is_reported(self) -> None:
        result = self.run_page(
            "# Section\n```console\n$ curl -s -X POST localhost:8080/transitions/start\n"
            f'{{"id":"{ID}",…,"state":"queued",…}}\n$ echo done\ndone\n```\n'
        )
        self.assertEqual((result.returncode, result.stdout.splitlines()[-1]), (1, "1 passed, 1 failed"), result.stdout)
        for part in ("Section, line 3", "curl -s -X POST", '"state":"queued"', '"state":"running"'):
            self.assertIn(part, result.stdout)

    def test_a_command_that_fails_silently_is_reported(self) -> None:
        result = self.run_page("# Section\n```console\n$ false\n$ curl -s localhost:1/livez\n```\n")
        self.assertEqual((result.returncode, result.stdout.splitlines()[-1]), (1, "0 passed, 2 failed"), result.stdout)

    def test_what_has_not_been_run_has_failed(self) -> None:
        result = self.run_page(
            "# Section\n```console\n$ exit\n$ echo one\none\n```\n# Other\n```console\n$ true\n```\n"
        )
        self.assertEqual((result.returncode, result.stdout.splitlines()[-1]), (1, "0 passed, 3 failed"), result.stdout)

    def test_a_page_without_sessions_fails(self) -> None:
        self.assertEqual(self.run_page("# Nothing\n").returncode, 1)

    def test_output_comes_later_in_the_terminal_that_waits(self) -> None:
        page = (
            "# Section\n```console second terminal\n$ curl -sN localhost:8080/scenes/main/events\n"
            ": connected\nretry: 1000\n```\n```console\n$ curl -s -X POST localhost:8080/transitions/start\n"
            f'{{"id":"{ID}",…}}\n```\n```console second terminal\nid: 1\nevent: transition.running\n'
            f'data: {{"id":"{ID}",…}}\n```\n'
        )
        result = self.run_page(page)
        self.assertEqual((result.returncode, result.stdout.splitlines()[-1]), (0, "3 passed, 0 failed"), result.stdout)
        result = self.run_page(page.replace("id: 1", "id: 2"))
        self.assertEqual((result.returncode, result.stdout.splitlines()[-1]), (1, "2 passed, 1 failed"), result.stdout)


class NameTests(unittest.TestCase):
    def setUp(self) -> None:
        self.tree = Tree()
        self.tree.add("Makefile", "check: deps\n\techo --jobs\n")
        self.tree.add("Sources/Core/Queue/ScopeQueue+Moving.swift", 'struct ScopeQueue { func moveAll() {} }\n@Option(help: "so\\n")\nvar maxQueued = 1')
        self.tree.add("Sources/Core/Other.swift", "extension Engine { func flushAll() {} }")
        self.tree.add("docs/page.md", "`GoneType`")

    def lacks(self, name: str) -> list[str]:
        return missing_names(name, self.tree)

    def test_what_the_tree_has_is_not_missing(self) -> None:
        for name in [
            "make check", "make check JOBS=2", "ScopeQueue", "ScopeQueue.moveAll", "ScopeQueue+Moving", "Core/Queue", "Sources/Core",
            "Queue/ScopeQueue+Moving.swift", "ScopeQueue+….swift", "Scope…", "--jobs", "--max-queued 5", "word", "GET /scenes",
        ]:
            self.assertEqual(self.lacks(name), [], name)

    def test_what_the_tree_has_not_is_missing(self) -> None:
        for name in [
            "make chek", "ScopeQueues", "GoneType", "goneFunction", "Core/Gone", "Sources/Core/Gone.swift", "Gone.swift", "--gone",
        ]:
            self.assertEqual(self.lacks(name), [name], name)

    def test_a_member_of_another_type_is_missing(self) -> None:
        self.assertEqual(self.lacks("ScopeQueue.flushAll"), ["ScopeQueue.flushAll"])
        self.assertEqual(self.lacks("Engine.flushAll"), [])

    def test_code_blocks_are_not_looked_at(self) -> None:
        self.assertEqual(quoted("`a`\n```\n`b`\n```\nand `c` and `d`"), [(1, "a"), (5, "c"), (5, "d")])

    def test_a_name_may_go_on_on_the_next_line(self) -> None:
        self.assertEqual(quoted("see `make\nmodel` and `c`\n\n`d"), [(1, "make model"), (2, "c")])

    def test_a_decision_that_was_replaced_may_name_what_is_gone(self) -> None:
        self.assertTrue(is_replaced("# One\n\n*Replaced by [0002](0002.md).*\n"))
        self.assertFalse(is_replaced("# One\n\n*Since then, another thing.*\n"))

    def test_a_call_that_no_page_names_is_missing(self) -> None:
        description = "x:\n\npaths:\n  /scenes:\n    get:\n  /scenes/{scene}:\n    get:\n    delete:\n"
        self.assertEqual(missing_calls("`GET /scenes`, `GET /scenes/{scene}?x=`", description), ["DELETE /scenes/{scene}"])


class MetricTests(unittest.TestCase):
    endpoint = """
        page.single("arbiter_scenes", .gauge, "Scenes that exist.", state.scenes)
        page.single(
            "arbiter_wait_seconds", "From the request to the grant.", transitions.waits)
    """
    page = ("| `arbiter_scenes` | gauge | Scenes that exist. | |\n"
            "| `arbiter_wait_seconds` | histogram | From the request to the grant. | `Slow` |\n")
    rules = "- alert: Slow\n  expr: arbiter_wait_seconds_bucket > 1\n"
    dashboard = ('{"templating": {"list": [{"query": "arbiter_scenes"}]},'
                 ' "panels": [{"targets": [{"expr": "rate(arbiter_wait_seconds_sum[1m])"}]}]}')
    tests = '"\\narbiter_scenes 1\\n", "arbiter_wait_seconds_count"'

    def found(self, **changed: str) -> list[str]:
        given = {name: changed.get(name, getattr(self, name)) for name in ("page", "rules", "dashboard", "tests")}
        return forgotten(exposed(changed.get("endpoint", self.endpoint)), **given)

    def test_nothing_is_forgotten(self) -> None:
        self.assertEqual(self.found(), [])

    def test_what_is_forgotten_is_found_in_each_place(self) -> None:
        more = self.endpoint + 'page.begin("arbiter_sessions", .gauge, "Sessions.")'
        self.assertEqual(self.found(endpoint=more), [
            "docs/metrics.md: there is no | `arbiter_sessions` | gauge | Sessions. | |",
            "deploy/grafana/arbiterd.json: no panel shows arbiter_sessions", "Tests: no test looks at arbiter_sessions"])

    def test_the_page_says_what_the_daemon_and_the_rules_say(self) -> None:
        self.assertEqual(len(self.found(page=self.page.replace("exist", "are there"))), 2)
        self.assertEqual(len(self.found(page=self.page.replace("Slow", "Fast"))), 2)
        self.assertEqual(len(self.found(page="".join(reversed(self.page.splitlines(keepends=True))))), 1)

    def test_rules_and_dashboard_name_what_there_is(self) -> None:
        self.assertEqual(self.found(rules=self.rules + "- alert: Gone\n  expr: arbiter_gone > 1 or up == 0\n"), [
            "deploy/prometheus/arbiterd.rules.yaml: there is no metric arbiter_gone"])

    def test_a_metric_in_another_form_is_not_overlooked(self) -> None:
        with self.assertRaises(ValueError):
            exposed("page.begin(name, .gauge, help)")


class OperationTests(unittest.TestCase):
    core = "package enum OperationType: String {\n    case pop\n    case select\n}\n"
    description = """
    PopOperation:
      title: PopOperation
      properties:
        type:
          const: pop
        navigation:
          $ref: "#/components/schemas/ControllerID"
      examples:
        - {"type": "pop", "navigation": "nav"}
    SelectOperation:
      properties:
        type:
          const: select
        tabs:
          $ref: "#/components/schemas/ControllerID"
    OperationSummary:
"""
    places = {
        "Clients/python/src/transition_arbiter/operations.py": '{"type": "pop"} {"type": "select"}',
        "Clients/javascript/client.js": "  pop: navigation => ({ type: 'pop' }),\n  select: tabs => ({ type: 'select', tabs }),",
        "Clients/javascript/client.d.ts": "  pop(navigation: string): Operation;\n  select(tabs: string): Operation;",
        SWIFT_CLIENT: 'public static func pop: "type": "pop", "navigation"; public static func select: "type": "select", "tabs"',
        PAGE: "  pop: {\n    operands: ['navigation'],\n  select: {\nconst LABELS = {\n  navigation: 'Stack',\n};",
        "docs/hierarchy.md": "The operations are `pop`\nand `select`.",
        "Tests/ArbiterCoreTests/Hierarchy/*.swift": "operation: .pop(), operation: .select(1)",
    }

    def test_nothing_is_forgotten(self) -> None:
        self.assertEqual(types_of(self.core), ["pop", "select"])
        self.assertEqual(members_of("pop", self.description), {"type", "navigation"})
        self.assertEqual(forgotten_of_operations(self.core, self.description, self.places), [])

    def test_what_is_forgotten_is_found_in_each_place(self) -> None:
        more = self.core.replace("case pop\n", "case pop\n    case swap\n")
        found = forgotten_of_operations(more, self.description, self.places)
        self.assertEqual(found, [f"{path}: there is no operation swap" for path in (*PLACES, "openapi.yaml")])

    def test_members_and_labels_are_found_too(self) -> None:
        for path, changed, expected in (
            (SWIFT_CLIENT, self.places[SWIFT_CLIENT].replace('"tabs"', '"bar"'), "the operation select has no tabs"),
            (PAGE, self.places[PAGE].replace("navigation: 'Stack'", ""), "there is no label for navigation"),
        ):
            found = forgotten_of_operations(self.core, self.description, {**self.places, path: changed})
            self.assertEqual(found, [f"{path}: {expected}"])


if __name__ == "__main__":
    unittest.main()
