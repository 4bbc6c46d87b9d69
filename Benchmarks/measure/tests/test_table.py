"""Tests of the table: numbers, rows, columns, and both ways to write it."""

import unittest

from measure.figures import Figures
from measure.rows import ROWS, SERVERS
from measure.table import RatioRow, Row, as_markdown, as_text, cells, format_number

COLUMNS = {"memory": "memory", "redis": "Redis"}


class NumberTests(unittest.TestCase):
    def test_numbers_have_three_digits_or_all_before_the_point(self) -> None:
        for value, text in {0: "0", 0.1234: "0.123", 1.234: "1.23", 12.34: "12.3", 123.4: "123", 12345.6: "12,346",
                            10_000: "10,000", 7.0: "7"}.items():
            with self.subTest(value=value):
                self.assertEqual(format_number(value), text)


class CellsTests(unittest.TestCase):
    def setUp(self) -> None:
        self.figures = Figures()
        for server, rate in {"memory": 50, "redis": 200}.items():
            self.figures.add("rate", server, "1/s", rate)
        for name, value in {"p50": 1, "p99": 12.5}.items():
            self.figures.add(f"took-{name}", "memory", "µs", value)

    def test_a_row_has_a_cell_for_each_server(self) -> None:
        self.assertEqual(cells([Row("hand-overs", ("rate",))], COLUMNS, self.figures),
                         [["", "unit", "memory", "Redis"], ["hand-overs", "1/s", "50", "200"]])

    def test_measures_that_belong_together_share_a_cell(self) -> None:
        self.assertEqual(cells([Row("took", ("took-p50", "took-p99"))], COLUMNS, self.figures)[1],
                         ["took", "µs", "1 / 12.5"])

    def test_a_ratio_stands_where_there_is_a_reference(self) -> None:
        rows = [Row("hand-overs", ("rate",)), RatioRow("against Redis", "rate", {"memory": "redis"})]
        self.assertEqual(cells(rows, COLUMNS, self.figures)[2], ["against Redis", "×", "0.25", ""])

    def test_rows_and_columns_without_figures_are_left_out(self) -> None:
        rows = [Row("hand-overs", ("rate",)), Row("parked", ("parked",)),
                RatioRow("against etcd", "rate", {"memory": "etcd"})]
        self.assertEqual(cells(rows, COLUMNS | {"etcd": "etcd"}, self.figures),
                         [["", "unit", "memory", "Redis"], ["hand-overs", "1/s", "50", "200"]])


class WritingTests(unittest.TestCase):
    TABLE = [["", "unit", "memory", "Redis"], ["hand-overs", "1/s", "50", "20,000"]]

    def test_text_has_aligned_columns(self) -> None:
        self.assertEqual(as_text(self.TABLE), "            unit  memory   Redis\nhand-overs  1/s       50  20,000")

    def test_markdown_has_figures_on_the_right(self) -> None:
        self.assertEqual(
            as_markdown(self.TABLE),
            "|  | unit | memory | Redis |\n| --- | --- | ---: | ---: |\n| hand-overs | 1/s | 50 | 20,000 |")


class RowsTests(unittest.TestCase):
    def test_what_is_compared_has_columns(self) -> None:
        for row in ROWS:
            if isinstance(row, RatioRow):
                with self.subTest(row=row.title):
                    self.assertLessEqual({*row.references, *row.references.values()}, set(SERVERS))

    def test_the_measures_of_ratios_are_shown_too(self) -> None:
        shown = {measure for row in ROWS if isinstance(row, Row) for measure in row.measures}
        self.assertLessEqual({row.measure for row in ROWS if isinstance(row, RatioRow)}, shown)
