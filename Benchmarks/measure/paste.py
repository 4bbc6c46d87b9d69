"""Usage: python -m measure.paste RESULTS: puts the tables and plots of the last runs into README.md and docs."""

import shutil
import sys
from pathlib import Path

BEGIN, END = "<!-- make bench-paste: begin -->\n", "<!-- make bench-paste: end -->\n"
# Which table goes into which page, between the marks of which name; the last one is that of `make cluster-bench`.
PAGES = (("README.md", "summary.md", ""), ("docs/performance.md", "table.md", ""),
         ("docs/performance.md", "others.md", "others "), ("docs/cluster.md", "cluster.md", ""))
PLOTS = Path("docs/performance")


def replace(page: str, text: str, name: str = "") -> str:
    """The page with another text between the marks of a name; fails if it has not exactly one pair of them."""
    begin, end = (mark.replace("paste: ", f"paste: {name}") for mark in (BEGIN, END))
    if page.count(begin) != 1 or page.count(end) != 1 or page.index(begin) > page.index(end):
        raise ValueError(f"the page has to contain {begin.strip()} and {end.strip()} once each")
    before, _, rest = page.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n{text.strip()}\n\n{end}{after}"


def main(results: Path) -> None:
    for page, table, name in PAGES:
        if not (results / table).exists():
            print(f"{page} stays: there is no {results / table}")
            continue
        path = Path(page)
        path.write_text(replace(path.read_text(), (results / table).read_text(), name))
        print(f"{page} has {results / table}")
    PLOTS.mkdir(exist_ok=True)
    for plot in results.glob("*.svg"):
        shutil.copy(plot, PLOTS)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
