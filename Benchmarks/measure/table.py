"""The one table that a run prints: a row for each measure, a column for each server."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from measure.figures import Figures


@dataclass(frozen=True)
class Row:
    """Medians of one measure, or of several that belong together, such as percentiles."""

    title: str
    measures: tuple[str, ...]

    def cell(self, figures: Figures, server: str) -> str:
        found = [figures.get(measure, server) for measure in self.measures]
        return " / ".join(format_number(figure.median) for figure in found if figure is not None)

    def unit(self, figures: Figures) -> str:
        return next((unit for measure in self.measures if (unit := figures.unit(measure)) is not None), "")


@dataclass(frozen=True)
class RatioRow:
    """Medians of one measure as multiples of those at other servers."""

    title: str
    measure: str
    # For each server, the one that it is compared with.
    references: Mapping[str, str]

    def cell(self, figures: Figures, server: str) -> str:
        reference = self.references.get(server)
        ratio = None if reference is None else figures.ratio(self.measure, server, reference)
        return "" if ratio is None else f"{ratio:.2f}"

    def unit(self, figures: Figures) -> str:
        return "×"


Cells = list[list[str]]


def format_number(value: float) -> str:
    """Three significant digits, or all digits before the point: 0.123, 12.3, 12,345."""
    magnitude = abs(value)
    if magnitude >= 100 or value == int(value):
        return f"{value:,.0f}"
    for bound, decimals in ((10, 1), (1, 2)):
        if magnitude >= bound:
            return f"{value:.{decimals}f}"
    return f"{value:.3f}"


def cells(rows: Sequence[Row | RatioRow], servers: Mapping[str, str], figures: Figures) -> Cells:
    """The table, its header first. Rows and columns without a figure are left out."""
    body = [[row.title, row.unit(figures)] + [row.cell(figures, server) for server in servers] for row in rows]
    body = [line for line in body if any(line[2:])]
    header = ["", "unit", *servers.values()]
    used = [index < 2 or any(line[index] for line in body) for index in range(len(header))]
    return [[cell for cell, is_used in zip(line, used) if is_used] for line in [header, *body]]


def as_text(table: Cells, texts: int = 2) -> str:
    """The table for a terminal, in columns, of which the first ones are texts."""
    widths = [max(map(len, column)) for column in zip(*table)]
    return "\n".join(
        "  ".join(cell.ljust(width) if index < texts else cell.rjust(width)
                  for index, (cell, width) in enumerate(zip(line, widths))).rstrip()
        for line in table)


def as_markdown(table: Cells, texts: int = 2) -> str:
    rule = ["---"] * texts + ["---:"] * (len(table[0]) - texts)
    return "\n".join("| " + " | ".join(line) + " |" for line in [table[0], rule, *table[1:]])
