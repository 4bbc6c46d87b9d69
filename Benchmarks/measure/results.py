"""What a run has found."""

from dataclasses import dataclass, field

from hdrh.histogram import HdrHistogram

from measure import latencies
from measure.figures import Figures


@dataclass
class Results:
    figures: Figures = field(default_factory=Figures)
    # All hand-overs of each server, by the name of the race.
    hand_overs: dict[str, dict[str, HdrHistogram]] = field(default_factory=dict)
    # Durations of the core's decisions: (decision, waiting, controllers).
    decisions: dict[tuple[str, int, int], HdrHistogram] = field(default_factory=dict)
    # The measures of growing sizes: name of the series, to (size, measure).
    series: dict[str, list[tuple[int, str]]] = field(default_factory=dict)

    def add_percentiles(self, prefix: str, server: str, found: HdrHistogram, unit: str = "µs") -> None:
        for name, value in latencies.percentiles(found, unit).items():
            self.figures.add(f"{prefix}-{name}", server, unit, value)

    def widest_spread(self) -> str:
        """Says which figure differs most from round to round."""
        widest = self.figures.widest_spread()
        return (f"The widest spread: {widest.measure} at {widest.server}, {min(widest.values):.4g} to "
                f"{max(widest.values):.4g} {widest.unit}.")

    def as_json(self) -> dict:
        return {
            "figures": [figure.as_json() for figure in self.figures.all()],
            "decisions": [
                {"decision": decision, "waiting": waiting, "controllers": controllers, "unit": "µs",
                 **latencies.percentiles(found)}
                for (decision, waiting, controllers), found in self.decisions.items()
            ],
            # In HdrHistogram's own form, of nanoseconds.
            "hand_overs": {race: {server: found.encode().decode() for server, found in servers.items()}
                           for race, servers in self.hand_overs.items()},
            "series": {name: [{"size": size, "measure": measure} for size, measure in points]
                       for name, points in self.series.items()},
        }
