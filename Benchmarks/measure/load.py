"""The load generator, Sources/load: runs one of its modes and reads what it prints."""

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hdrh.histogram import HdrHistogram

from measure import latencies
from measure.servers import Server


class LoadFailed(Exception):
    """The load generator found something that must not happen, such as two holders of one lock."""


@dataclass(frozen=True)
class Load:
    program: Path
    # For files of samples.
    directory: Path

    def run(self, mode: str, server: Server, **options: object) -> dict:
        """Runs a mode; an option that is True has no value."""
        command = [str(self.program), mode, f"--server={server.protocol}", *(f"--port={port}" for port in server.ports),
                   *(f"--pid={pid}" for pid in server.pids), *arguments(options)]
        result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600)
        if result.returncode != 0:
            raise LoadFailed(f"{' '.join(command)} at {server.name}: {result.stderr.strip()}")
        return json.loads(result.stdout)

    def run_with_samples(self, mode: str, server: Server, **options: object) -> tuple[dict, HdrHistogram]:
        """Runs a mode that measures latencies."""
        path = self.directory / "samples"
        report = self.run(mode, server, samples=path, **options)
        return report, latencies.read(path)


def arguments(options: Mapping[str, object]) -> list[str]:
    """Options as the command line has them: one_key=True is --one-key."""
    return [f"--{name.replace('_', '-')}" + ("" if value is True else f"={value}") for name, value in options.items()]
