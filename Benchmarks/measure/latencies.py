"""Latencies, in HdrHistograms of nanoseconds."""

from array import array
from collections.abc import Iterable
from pathlib import Path

from hdrh.histogram import HdrHistogram

PERCENTILES = {"p50": 50.0, "p99": 99.0, "p99.9": 99.9}
NANOSECONDS = {"µs": 1e3, "ms": 1e6}
LONGEST_NANOSECONDS = 10 * 60 * 10**9


def histogram(nanoseconds: Iterable[int] = ()) -> HdrHistogram:
    """A histogram with three significant digits."""
    result = HdrHistogram(1, LONGEST_NANOSECONDS, 3)
    for value in nanoseconds:
        result.record_value(value)
    return result


def read(path: Path) -> HdrHistogram:
    """The histogram of a file of samples, as the load generator writes them."""
    samples = array("Q")
    samples.frombytes(path.read_bytes())
    return histogram(samples)


def percentiles(latencies: HdrHistogram, unit: str = "µs") -> dict[str, float]:
    """By name."""
    return {name: latencies.get_value_at_percentile(percentile) / NANOSECONDS[unit]
            for name, percentile in PERCENTILES.items()}


def curve(latencies: HdrHistogram) -> list[tuple[float, float]]:
    """Percentiles and their latencies in microseconds, denser towards 100."""
    return [(item.percentile_level_iterated_to, item.value_iterated_to / 1000)
            for item in latencies.get_percentile_iterator(5)]
