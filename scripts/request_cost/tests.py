import tempfile
import unittest
from pathlib import Path

from request_cost import profile
from request_cost.profile import LINE, PAGE, Call, Function

# Two functions of a program and one of a library. Names are written once, addresses as differences, and zeros at the end are left out.
SMALL = """\
version: 1
positions: instr line
events: Ir Dr Dw I1mr D1mr

ob=(1) /bin/program
fl=(1) ???
fn=(1) outer
0x1000 0 10 0 0 2
+4 0 10
cfn=(3) inner'2
calls=10 0x2000 0
* * 30
+4 0 10
cob=(2) /lib/library.so
cfn=(2) malloc
calls=5 0x40 0
* 0 5 0 0 1

fn=(3)
0x2000 0 30 1 1 3
-0xfc0 0 4

ob=(2)
fn=(2)
0x40 0 5
"""
OUTER, INNER, MALLOC = Function("/bin/program", "outer"), Function("/bin/program", "inner"), Function("/lib/library.so", "malloc")


class ProfileTests(unittest.TestCase):
    def setUp(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "profile"
            path.write_text(SMALL)
            self.profile = profile.read(path)

    def test_what_is_executed_is_without_what_is_called(self) -> None:
        self.assertEqual(self.profile.instructions, 69)
        self.assertEqual(self.profile.executed[OUTER, 0x1004], 10)
        self.assertEqual(self.profile.executed[INNER, 0x1040], 4)

    def test_misses_are_found_by_their_name(self) -> None:
        self.assertEqual(self.profile.missed.total(), 5)

    def test_calls_have_their_number_and_all_that_they_cost(self) -> None:
        self.assertEqual(self.profile.calls, {Call(OUTER, INNER): 10, Call(OUTER, MALLOC): 5})
        self.assertEqual(self.profile.inclusive, {Call(OUTER, INNER): 30, Call(OUTER, MALLOC): 5})
        self.assertEqual(self.profile.calls_of(["malloc", "calloc"]), 5)

    def test_lines_and_pages_are_those_that_are_executed_often(self) -> None:
        self.assertEqual(self.profile.blocks(LINE, 10), {("/bin/program", 0x40), ("/bin/program", 0x80)})
        self.assertEqual(self.profile.blocks(LINE, 5), self.profile.blocks(LINE, 10) | {("/lib/library.so", 1)})
        self.assertEqual(self.profile.blocks(PAGE, 4), {("/bin/program", 1), ("/bin/program", 2), ("/lib/library.so", 0)})
        self.assertEqual(self.profile.functions(4), {OUTER: {0x40}, INNER: {0x41, 0x80}, MALLOC: {1}})


if __name__ == "__main__":
    unittest.main()
