"""The cases that are counted, and how: the daemon runs in callgrind, and the load generator of the benchmarks sends requests to it."""

import json
import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from request_cost import profile
from request_cost.profile import Profile

ROOT = Path(__file__).resolve().parent.parent.parent
LOAD = ROOT / "Benchmarks" / "Sources" / "load"

# A processor that most of today's are not smaller than. The sizes are bytes in all, ways, bytes of a line.
CACHES = ["--I1=32768,8,64", "--D1=32768,8,64", "--LL=524288,8,64"]
# 64 entries, as a TLB of instructions has: callgrind knows none, but a cache whose lines are pages is one. Real ones have a few ways, and
# what they miss then depends on where the linker puts a page, which any function that is added changes. So this one has all ways.
TLB = ["--I1=262144,64,4096", "--D1=262144,64,4096", "--LL=2097152,8,4096"]

# Requests that fill what is kept between requests; that fill the caches; and that are counted. Clients divide their halves.
WARMING, FILLING, COUNTED = 400, 240, 1200
# Nothing takes that long; it only ends a run that has come to a stop.
PATIENCE = 300


@dataclass(frozen=True)
class Case:
    journal: list[str]
    clients: int
    server: str = "arbiter"
    one_key: bool = False


# The requests of several clients come in the same turn of the daemon's loop, because it is slow in callgrind. Where they are answered
# together, one after the other, that is what happens under load. How many share a commit, though, and who comes first, depends on what
# else the machine does: so a journal has one client, and a key is handed over between two.
MEMORY, DEFAULT = ["--journal", "memory"], []
CASES = {
    "memory": Case(MEMORY, clients=8),
    "memory-session": Case(MEMORY, clients=8, server="arbiter-session"),
    "memory-hand-over": Case(MEMORY, clients=2, one_key=True),
    "journal": Case(DEFAULT, clients=1),
    "journal-hand-over": Case(DEFAULT, clients=2, one_key=True),
}


@dataclass(frozen=True)
class Count:
    """What some requests have cost."""

    requests: int
    # Of the thread that has served them, with the misses of its first cache.
    serving: Profile
    # Of all threads.
    all: Profile

    @property
    def usual(self) -> float:
        """How often is what at least every second request does. The beginning and the end of a run may lack some."""
        return 0.45 * self.requests


class Counting:
    """A program that is ready to be counted, and the load generator. Files are in the folder."""

    def __init__(self, program: Path, folder: Path) -> None:
        self._folder = folder
        self._load = folder / "load"
        sources = sorted(str(path) for path in LOAD.glob("*.c"))
        subprocess.run(["cc", "-O2", "-o", str(self._load), *sources, "-lpthread"], check=True)
        # Debian's valgrind stops at the debug information that Swift writes.
        self.program = folder / program.name
        subprocess.run(["strip", "--strip-debug", "-o", str(self.program), str(program)], check=True)

    def count(self, case: Case, caches: list[str]) -> Count:
        with tempfile.TemporaryDirectory(dir=self._folder) as name:
            folder = Path(name)
            with _Daemon(self.program, case, caches, folder) as daemon:
                self._run(daemon, case, WARMING)
                daemon.command("instrumentation on")
                self._run(daemon, case, FILLING)
                daemon.command("zero")
                requests = self._run(daemon, case, COUNTED)
                daemon.command("dump")
            threads = [profile.read(path) for path in folder.glob("profile.*")]
        serving = max(threads, key=lambda thread: thread.instructions)
        return Count(requests, serving, sum(threads, Profile()))

    def count_caches_and_tlb(self, case: Case) -> tuple[Count, Count]:
        with ThreadPoolExecutor(2) as pool:
            caches, tlb = pool.map(lambda kind: self.count(case, kind), [CACHES, TLB])
        return caches, tlb

    def _run(self, daemon: "_Daemon", case: Case, requests: int) -> int:
        """Sends requests; a cycle is two, a start or wait and an end. Returns their number."""
        command = [str(self._load), "race", f"--server={case.server}", f"--port={daemon.port}", f"--pid={daemon.process.pid}",
                   f"--clients={case.clients}", f"--count={requests // 2}", f"--seconds={PATIENCE}",
                   *(["--one-key"] if case.one_key else [])]
        result = subprocess.run(command, check=True, capture_output=True, text=True, timeout=2 * PATIENCE)
        cycles = json.loads(result.stdout)["cycles"]
        if cycles != requests // 2:
            raise RuntimeError(f"{cycles} cycles instead of {requests // 2}: {command}")
        return 2 * cycles


class _Daemon:
    """A daemon with one thread that serves, in callgrind, which counts nothing until it is told to."""

    def __init__(self, program: Path, case: Case, caches: list[str], folder: Path) -> None:
        self._log = folder / "log"
        data = [] if case.journal else ["--data", str(folder / "data")]
        self.process = subprocess.Popen(
            ["valgrind", "--tool=callgrind", f"--log-file={self._log}", f"--vgdb-prefix={folder / 'vgdb'}",
             f"--callgrind-out-file={folder / 'profile'}", "--separate-threads=yes", "--dump-instr=yes", "--demangle=no",
             "--instr-atstart=no", "--cache-sim=yes", *caches,
             str(program), "--listen", "127.0.0.1:0", "--threads", "1", "--log-level", "error", *case.journal, *data],
            stdout=subprocess.PIPE, text=True, cwd=folder, env={"PATH": os.environ["PATH"]})
        self._prefix = folder / "vgdb"
        ready = self.process.stdout.readline()
        if not ready:
            self.process.wait()
            raise RuntimeError(f"the daemon has not started in callgrind: {self._log.read_text()}")
        self.port = int(ready.rsplit(":", 1)[1].split()[0].rstrip("/"))

    def command(self, text: str) -> None:
        """Tells callgrind, and waits until it is done."""
        subprocess.run(["vgdb", f"--vgdb-prefix={self._prefix}", f"--pid={self.process.pid}", *text.split()],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=PATIENCE)

    def __enter__(self) -> "_Daemon":
        return self

    def __exit__(self, *_: object) -> None:
        # Without a last dump, which would be another one.
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
