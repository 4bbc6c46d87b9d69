"""Tests of the table of longest turns."""

import unittest

from measure.figures import Figures
from measure.turns import add_turn, as_markdown, cells


class TurnTests(unittest.TestCase):
    def test_a_kind_has_a_row_with_its_median(self) -> None:
        figures = Figures()
        for kind, nanoseconds in (("an end", 3e6), ("a row", 9e6), ("an end", 1e6), ("an end", 2e6)):
            add_turn({"turn": kind, "nanoseconds": nanoseconds}, figures)
        figures.add("others-p50", "an end", "ms", 7)
        self.assertEqual(cells(figures), [["the longest turn of", "ms"], ["an end", "2"], ["a row", "9"]])
        self.assertIn("| --- | ---: |", as_markdown(cells(figures)))
