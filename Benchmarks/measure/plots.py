"""Plots of cost against size, so that the shape is seen."""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import matplotlib

matplotlib.use("svg")
# Text stays text, which keeps the files small.
matplotlib.rcParams["svg.fonttype"] = "none"

from matplotlib import pyplot  # noqa: E402  (the backend has to be chosen before)
from matplotlib.axes import Axes  # noqa: E402

from measure import latencies  # noqa: E402
from measure.results import Results  # noqa: E402
from measure.rows import SERVERS  # noqa: E402

JOURNAL = "crash"


def draw_all(results: Results, directory: Path) -> None:
    draw_decisions(results, directory / "decisions.svg")
    draw_hand_overs(results, directory / "hand-overs.svg")
    draw_series(results, ["recovery"], "records in the journal", "ms until the daemon is ready",
                directory / "recovery.svg", scale="linear")
    readers = [name for name in results.series if name != "recovery"]
    draw_series(results, readers, "readers of the scene", "ms after the start", directory / "readers.svg", scale="log")


def draw_decisions(results: Results, path: Path) -> None:
    """Above by the length of the queue, below by the size of the tree, of the decisions in a tree."""
    sizes = defaultdict(set)
    for decision, _, controllers in results.decisions:
        sizes[decision].add(controllers)
    names = [decision for decision, measured in sizes.items() if len(measured) > 1]
    figure, panels = pyplot.subplots(2, len(names), figsize=(4 * len(names), 7), sharey="row", squeeze=False)
    for column, name in enumerate(names):
        points = [(waiting, controllers, found.get_value_at_percentile(50) / 1000)
                  for (decision, waiting, controllers), found in results.decisions.items() if decision == name]
        by_queue, by_tree = panels[0][column], panels[1][column]
        by_queue.set_title(name)
        draw_lines(by_queue, ((waiting, f"{controllers:,} controllers", cost) for waiting, controllers, cost in points))
        draw_lines(by_tree, ((controllers, f"{waiting:,} waiting", cost) for waiting, controllers, cost in points))
        by_queue.set_xlabel("tickets in the queue")
        by_tree.set_xlabel("controllers in the tree")
    for row in panels:
        row[0].set_ylabel("µs, median")
        row[0].set_ylim(bottom=0)
        row[-1].legend(fontsize="small")
    save(figure, path)


def draw_lines(axes: Axes, points: Iterable[tuple[int, str, float]]) -> None:
    lines: dict[str, list[tuple[int, float]]] = {}
    for size, label, cost in points:
        lines.setdefault(label, []).append((size, cost))
    axes.set_xscale("log")
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    for label, line in lines.items():
        sizes, costs = zip(*sorted(line))
        axes.plot(sizes, costs, marker="o", markersize=3, label=label)


def draw_hand_overs(results: Results, path: Path) -> None:
    """The time from release to grant at every percentile."""
    figure, panels = pyplot.subplots(1, len(results.hand_overs), figsize=(10, 4.5), sharey=True, squeeze=False)
    for axes, (race, servers) in zip(panels[0], results.hand_overs.items()):
        for server, found in servers.items():
            curve = [(100 / (100 - level), cost) for level, cost in latencies.curve(found) if level < 100]
            axes.plot(*zip(*curve), label=SERVERS[server])
        axes.set_title(f"{race.rsplit('-', 1)[1]} clients, one key")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xticks([1, 10, 100, 1000], ["0", "90 %", "99 %", "99.9 %"])
        axes.set_xlim(1, 3000)
        axes.set_xlabel("percentile")
        axes.grid(alpha=0.3)
    panels[0][0].set_ylabel("µs from release to grant")
    panels[0][-1].legend(fontsize="small")
    save(figure, path)


def draw_series(results: Results, names: list[str], size: str, cost: str, path: Path, scale: str) -> None:
    """Medians with the lowest and highest value of each."""
    figure, axes = pyplot.subplots(figsize=(6, 4))
    for name in names:
        points = [(at, results.figures.get(measure, JOURNAL)) for at, measure in results.series[name]]
        medians = [found.median for _, found in points]
        below = [found.median - min(found.values) for _, found in points]
        above = [max(found.values) - found.median for _, found in points]
        axes.errorbar([at for at, _ in points], medians, yerr=(below, above), marker="o", markersize=3, capsize=2,
                      label=name)
    axes.set_xscale(scale)
    axes.set_yscale(scale)
    if scale == "linear":
        axes.set_ylim(bottom=0)
    axes.set_xlabel(size)
    axes.set_ylabel(cost)
    axes.grid(alpha=0.3)
    if len(names) > 1:
        axes.legend(fontsize="small")
    save(figure, path)


def save(figure: pyplot.Figure, path: Path) -> None:
    figure.tight_layout()
    figure.savefig(path)
    pyplot.close(figure)
