"""The faults that storage_faults.c brings about in a running daemon."""

import enum
import mmap
import struct
from pathlib import Path
from typing import Self

# `struct fault`
FAULT = struct.Struct("5I")


class Call(enum.IntEnum):
    """The kinds of calls; `enum kind`."""

    WRITE = 0
    SYNCHRONIZE = 1
    SYNCHRONIZE_DIRECTORY = 2
    RENAME = 3
    OPEN = 4
    CREATE = 5
    TRUNCATE = 6
    REMOVE = 7


class Faults:
    """What happens to the calls of a daemon on files below a directory."""

    def __init__(self, library: Path, below: Path, path: Path) -> None:
        self.environment = {
            "LD_PRELOAD": str(library), "STORAGE_FAULTS_BELOW": str(below), "STORAGE_FAULTS": str(path)}
        path.write_bytes(bytes(FAULT.size * len(Call)))
        with path.open("r+b") as file:
            self._places = mmap.mmap(file.fileno(), 0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # A daemon that hangs could not end.
        self.clear()
        self._places.close()

    def fail(self, *calls: Call, error: int, after: int = 0) -> None:
        """Has calls of these kinds fail; the first write after so many bytes, if they are fewer than it has."""
        for call in calls:
            self._set(call, error=error, bytes=after)

    def hang(self, call: Call, after: int = 0) -> None:
        """Has calls of this kind wait until the fault is cleared; a write after so many bytes, if they are fewer than it has."""
        self._set(call, hangs=1, bytes=after)

    def lie(self, *calls: Call) -> None:
        """Has calls of these kinds do nothing, as if they had succeeded."""
        for call in calls:
            self._set(call, lies=1)

    def clear(self) -> None:
        for call in Call:
            self._set(call)

    def met(self, *calls: Call) -> int:
        """How many calls of these kinds have met a fault."""
        return sum(FAULT.unpack_from(self._places, FAULT.size * call)[4] for call in calls or Call)

    def _set(self, call: Call, *, error: int = 0, bytes: int = 0, hangs: int = 0, lies: int = 0) -> None:
        # Not the number of those that have met it, which is the daemon's.
        struct.pack_into("4I", self._places, FAULT.size * call, error, bytes, hangs, lies)
