"""The memory that a daemon takes, and a limit for it."""

import contextlib
import os
import resource
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

# Room for what the address space has beside what is resident: stacks of threads, arenas of the allocator, the program.
ADDRESS_SPACE = 2 << 30


class MemoryLimit:
    """A control group whose processes are killed beyond a limit; without the right to make one, a limit of the address space."""

    def __init__(self, byte_count: int) -> None:
        self.byte_count = byte_count
        self.group = self._make()

    def _make(self) -> Path | None:
        unified, memory = Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/memory")
        root, name = (memory, "memory.limit_in_bytes") if memory.is_dir() else (unified, "memory.max")
        group = root / f"arbiterd-test-{uuid.uuid4()}"
        try:
            group.mkdir()
        except OSError:
            return None
        try:
            (group / name).write_text(str(self.byte_count))
            with contextlib.suppress(OSError):
                (group / "memory.swap.max").write_text("0")
        except OSError:
            group.rmdir()
            return None
        return group

    def enter(self) -> None:
        """Limits the process that calls it, which is about to become the daemon."""
        if self.group:
            (self.group / "cgroup.procs").write_text(str(os.getpid()))
        else:
            resource.setrlimit(resource.RLIMIT_AS, (self.byte_count + ADDRESS_SPACE,) * 2)

    def close(self) -> None:
        if self.group:
            self.group.rmdir()

    def __str__(self) -> str:
        kind = "a control group" if self.group else "an address space"
        return f"{kind} of {self.byte_count >> 20} MiB"


@contextlib.contextmanager
def memory_limit(byte_count: int) -> Iterator[MemoryLimit]:
    limit = MemoryLimit(byte_count)
    try:
        yield limit
    finally:
        limit.close()


def _status(pid: int, name: str) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1000 for line in lines if line.startswith(name + ":"))


def peak(pid: int) -> float:
    """The most resident memory that a process has had, in MB."""
    return _status(pid, "VmHWM")


def resident(pid: int) -> float:
    """The resident memory of a process, in MB."""
    return _status(pid, "VmRSS")
