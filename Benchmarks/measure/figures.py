"""Figures: what was measured, how often, and how one compares with another."""

from dataclasses import dataclass, field
from statistics import median


@dataclass(frozen=True)
class Figure:
    """The values of one measure at one server, one for each round."""

    measure: str
    server: str
    unit: str
    values: tuple[float, ...]

    @property
    def median(self) -> float:
        return median(self.values)

    @property
    def spread(self) -> float:
        """The distance from the lowest to the highest value, as a part of the median."""
        return (max(self.values) - min(self.values)) / self.median if self.median else 0.0

    def as_json(self) -> dict:
        return {
            "measure": self.measure,
            "server": self.server,
            "unit": self.unit,
            "median": self.median,
            "lowest": min(self.values),
            "highest": max(self.values),
            "values": list(self.values),
        }


@dataclass
class Figures:
    """All figures of a run."""

    _units: dict[str, str] = field(default_factory=dict)
    _values: dict[tuple[str, str], list[float]] = field(default_factory=dict)

    def add(self, measure: str, server: str, unit: str, value: float) -> None:
        """Adds the value of one round. A measure has one unit."""
        known = self._units.setdefault(measure, unit)
        if known != unit:
            raise ValueError(f"{measure} is measured in {known}, not in {unit}")
        self._values.setdefault((measure, server), []).append(value)

    def get(self, measure: str, server: str) -> Figure | None:
        values = self._values.get((measure, server))
        return Figure(measure, server, self._units[measure], tuple(values)) if values else None

    def unit(self, measure: str) -> str | None:
        return self._units.get(measure)

    def all(self) -> list[Figure]:
        return [Figure(measure, server, self._units[measure], tuple(values))
                for (measure, server), values in self._values.items()]

    def ratio(self, measure: str, server: str, reference: str) -> float | None:
        """The median at a server as a multiple of that at another; None if one of them was not measured."""
        ours, theirs = self.get(measure, server), self.get(measure, reference)
        if ours is None or theirs is None or theirs.median == 0:
            return None
        return ours.median / theirs.median

    def widest_spread(self) -> Figure | None:
        return max((figure for figure in self.all() if len(figure.values) > 1), key=lambda it: it.spread, default=None)
