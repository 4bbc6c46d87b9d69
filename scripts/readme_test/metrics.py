"""Finds what has been forgotten of a metric: in its page, in the dashboard, in the rules for alerts, and in the tests.

The table in docs/metrics.md has what the daemon itself says of each metric, in its order, and the alerts that look at it. The
dashboard shows every metric, and a test looks at the value of each.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path

ENDPOINT = "Sources/ArbiterHTTP/Endpoints/MetricsEndpoint.swift"
PAGE = "docs/metrics.md"
RULES = "deploy/prometheus/arbiterd.rules.yaml"
DASHBOARD = "deploy/grafana/arbiterd.json"
# How the endpoint begins a metric; one without a kind is a histogram.
BEGINNING = r"page\.(?:begin|single)\("
# What the server of Prometheus adds by itself.
ADDED = {"up"}


@dataclass(frozen=True)
class Metric:
    name: str
    kind: str
    help: str

    def is_in(self, text: str) -> bool:
        """Whether a text names it; that of a histogram may be one of its parts."""
        # Behind a word in a text of Swift, a new line is `\\n`.
        return re.search(rf"(?:\b|\\n){self.name}(?:_bucket|_sum|_count)?\b", text) is not None

    def row(self, alerts: list[str]) -> str:
        """Its line in the table of the page."""
        return f"| `{self.name}` | {self.kind} | {self.help} | {', '.join(f'`{alert}`' for alert in alerts)} |".replace("|  |", "| |")


def exposed(endpoint: str) -> list[Metric]:
    """The metrics that the endpoint writes, in its order."""
    found = re.findall(BEGINNING + r'\s*"(\w+)",(?:\s*\.(\w+),)?\s*"([^"]*)"', endpoint)
    metrics = [Metric(name, kind or "histogram", text) for name, kind, text in found]
    if len(metrics) != len(re.findall(BEGINNING, endpoint)):
        raise ValueError(f"{ENDPOINT} begins a metric in a form that is not understood")
    return metrics


def alerts_of(rules: str) -> dict[str, str]:
    """The expressions of the rules, by the names of their alerts."""
    return dict(re.findall(r"- alert: (\w+)\n\s+expr: (.*)", rules))


def shown(dashboard: str) -> list[str]:
    """The expressions of the dashboard: those of its panels, and that by which an instance is chosen."""
    document = json.loads(dashboard)
    return [target["expr"] for panel in document["panels"] for target in panel["targets"]] + [
        variable["query"] for variable in document["templating"]["list"]]


def forgotten(metrics: list[Metric], page: str, rules: str, dashboard: str, tests: str) -> list[str]:
    """What is missing, one line each."""
    found, alerts, expressions = [], alerts_of(rules), shown(dashboard)
    rows = [metric.row([name for name, expression in alerts.items() if metric.is_in(expression)]) for metric in metrics]
    written = [line for line in page.splitlines() if line.startswith("| `")]
    found += [f"{PAGE}: there is no {row}" for row in rows if row not in written]
    found += [f"{PAGE}: there is no metric for {row}" for row in written if row not in rows]
    if not found and rows != written:
        found.append(f"{PAGE}: the metrics are not in the order of {ENDPOINT}")
    for metric in metrics:
        if not any(metric.is_in(expression) for expression in expressions):
            found.append(f"{DASHBOARD}: no panel shows {metric.name}")
        if not metric.is_in(tests):
            found.append(f"Tests: no test looks at {metric.name}")
    for path, all_of_it in ((RULES, alerts.values()), (DASHBOARD, expressions)):
        for name in sorted(set(re.findall(r"\b(?:arbiter|process)_\w+|\bup\b", " ".join(all_of_it)))):
            if name not in ADDED and not any(metric.is_in(name) for metric in metrics):
                found.append(f"{path}: there is no metric {name}")
    return found


def check_metrics(root: Path) -> list[str]:
    def text(path: str) -> str:
        return (root / path).read_text(encoding="utf-8")

    tests = "\n".join(path.read_text(encoding="utf-8") for ending in ("py", "swift") for path in sorted(root.glob(f"Tests/**/*.{ending}")))
    return forgotten(exposed(text(ENDPOINT)), text(PAGE), text(RULES), text(DASHBOARD), tests)
