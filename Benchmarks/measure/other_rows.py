"""The table of what one client costs the others: a row for each attack, a column for each measure."""

from measure import table
from measure.attacks import ATTACKS
from measure.figures import Figures

# The columns: measures by their heads.
COLUMNS = {
    "requests": "its requests",
    "p50": "wait of another, p50, ms",
    "p99.9": "p99.9, ms",
    "longest": "longest, ms",
    "refused": "refused",
    "lost": "leases lost",
    "memory": "memory, MB",
}


def cells(figures: Figures) -> table.Cells:
    """The table, its header first; attacks that were not measured are left out."""
    body = []
    for attack in ATTACKS:
        built = figures.get("others-built", attack.name)
        if built is None:
            continue
        found = [figures.get(f"others-{measure}", attack.name) for measure in COLUMNS]
        body.append([attack.title.replace("#", table.format_number(built.median)),
                     *("" if figure is None else table.format_number(figure.median) for figure in found)])
    return [["what one client does", *COLUMNS.values()], *body]


def as_text(shown: table.Cells) -> str:
    return table.as_text(shown, texts=1)


def as_markdown(shown: table.Cells) -> str:
    return f"What one client costs the others:\n\n{table.as_markdown(shown, texts=1)}"
