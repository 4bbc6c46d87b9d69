"""Tests of medians, spreads and ratios."""

import unittest

from measure.figures import Figure, Figures


class FigureTests(unittest.TestCase):
    def test_the_median_ignores_one_round_that_was_disturbed(self) -> None:
        self.assertEqual(Figure("rate", "crash", "1/s", (10.0, 900.0, 11.0)).median, 11)

    def test_the_median_of_two_rounds_lies_between_them(self) -> None:
        self.assertEqual(Figure("rate", "crash", "1/s", (10.0, 20.0)).median, 15)

    def test_the_spread_is_a_part_of_the_median(self) -> None:
        self.assertEqual(Figure("rate", "crash", "1/s", (90.0, 100.0, 130.0)).spread, 0.4)

    def test_what_is_always_zero_has_no_spread(self) -> None:
        self.assertEqual(Figure("overtaking", "crash", "grants", (0.0, 0.0)).spread, 0)

    def test_json_has_median_and_spread_with_every_value(self) -> None:
        self.assertEqual(
            Figure("rate", "crash", "1/s", (3.0, 1.0, 2.0)).as_json(),
            {"measure": "rate", "server": "crash", "unit": "1/s", "median": 2.0, "lowest": 1.0, "highest": 3.0,
             "values": [3.0, 1.0, 2.0]})


class FiguresTests(unittest.TestCase):
    def setUp(self) -> None:
        self.figures = Figures()

    def test_rounds_gather_in_one_figure(self) -> None:
        for value in (1, 2, 6):
            self.figures.add("rate", "crash", "1/s", value)
        self.assertEqual(self.figures.get("rate", "crash"), Figure("rate", "crash", "1/s", (1, 2, 6)))

    def test_a_measure_has_one_unit(self) -> None:
        self.figures.add("took", "crash", "ms", 1)
        with self.assertRaisesRegex(ValueError, "took is measured in ms, not in µs"):
            self.figures.add("took", "power", "µs", 1)

    def test_a_ratio_is_that_of_the_medians(self) -> None:
        for ours, theirs in ((10, 1), (30, 2), (20, 4)):
            self.figures.add("took", "crash", "µs", ours)
            self.figures.add("took", "memory", "µs", theirs)
        self.assertEqual(self.figures.ratio("took", "crash", "memory"), 10)

    def test_there_is_no_ratio_to_what_was_not_measured(self) -> None:
        self.figures.add("took", "power", "µs", 1)
        self.assertIsNone(self.figures.ratio("took", "power", "etcd"))
        self.assertIsNone(self.figures.ratio("took", "etcd", "power"))

    def test_there_is_no_ratio_to_zero(self) -> None:
        self.figures.add("disk", "crash", "bytes", 5)
        self.figures.add("disk", "memory", "bytes", 0)
        self.assertIsNone(self.figures.ratio("disk", "crash", "memory"))

    def test_the_widest_spread_is_found_among_figures_of_several_rounds(self) -> None:
        for measure, values in {"once": [7], "steady": [10, 11], "noisy": [10, 20]}.items():
            for value in values:
                self.figures.add(measure, "crash", "µs", value)
        self.assertEqual(self.figures.widest_spread().measure, "noisy")

    def test_nothing_measured_has_no_widest_spread(self) -> None:
        self.assertIsNone(self.figures.widest_spread())
