"""Usage: python -m measure.paste RESULTS: puts the tables and plots of the last runs into README.md and docs."""

import shutil
import sys
from pathlib import Path

BEGIN, END = "<!-- make bench-paste: begin -->\n", "<!-- make bench-paste: end -->\n"
# Which table goes into which page; the last one is that of `make cluster-bench`.
PAGES = {"README.md": "summary.md", "docs/performance.md": "table.md", "docs/cluster.md": "cluster.md"}
PLOTS = Path("docs/performance")


def replace(page: str, text: str) -> str:
    """The page with another text between its marks; fails if it has not exactly one pair of them."""
    if page.count(BEGIN) != 1 or page.count(END) != 1 or page.index(BEGIN) > page.index(END):
        raise ValueError(f"the page has to contain {BEGIN.strip()} and {END.strip()} once each")
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{text.strip()}\n\n{END}{after}"


def main(results: Path) -> None:
    for page, table in PAGES.items():
        if not (results / table).exists():
            print(f"{page} stays: there is no {results / table}")
            continue
        path = Path(page)
        path.write_text(replace(path.read_text(), (results / table).read_text()))
        print(f"{page} has {results / table}")
    PLOTS.mkdir(exist_ok=True)
    for plot in results.glob("*.svg"):
        shutil.copy(plot, PLOTS)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
