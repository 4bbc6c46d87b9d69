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

    def test_a_page_may_have_marks_of_several_names(self) -> None:
        page = f"{BEGIN}a\n{END}" + "<!-- make bench-paste: others begin -->\nb\n<!-- make bench-paste: others end -->\n"
        self.assertIn("\nnew\n", replace(page, "new", "others "))
        self.assertIn(f"{BEGIN}a\n{END}", replace(page, "new", "others "))
        self.assertIn("\nb\n", replace(page, "new"))

    def test_a_page_needs_one_pair_of_marks(self) -> None:
        for page in ("", BEGIN, END, END + BEGIN, BEGIN + END + BEGIN + END):
            with self.subTest(page=page), self.assertRaises(ValueError):
                replace(page, "new")
