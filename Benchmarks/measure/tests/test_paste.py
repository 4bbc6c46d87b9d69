"""Tests of how tables get into pages."""

import unittest

from measure.paste import BEGIN, END, replace


class ReplaceTests(unittest.TestCase):
    def test_what_is_between_the_marks_is_replaced(self) -> None:
        self.assertEqual(replace(f"above\n{BEGIN}old\n{END}below\n", "new\n"),
                         f"above\n{BEGIN}\nnew\n\n{END}below\n")

    def test_pasting_the_same_twice_changes_nothing(self) -> None:
        once = replace(f"{BEGIN}{END}", "table")
        self.assertEqual(replace(once, "table"), once)

    def test_a_page_needs_one_pair_of_marks(self) -> None:
        for page in ("", BEGIN, END, END + BEGIN, BEGIN + END + BEGIN + END):
            with self.subTest(page=page), self.assertRaises(ValueError):
                replace(page, "new")
