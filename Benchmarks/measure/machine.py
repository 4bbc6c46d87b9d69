"""Where and of what a run was."""

import datetime
import os
import platform
import subprocess
from pathlib import Path

from measure.servers import Programs


def describe(programs: Programs, command: str, directory: Path) -> dict:
    return {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "command": command,
        "commit": commit(),
        "machine": {
            "processor": processor(),
            "processors": os.cpu_count(),
            "memory_bytes": os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"),
            "kernel": platform.release(),
            "file_system": file_system(directory),
            "load_average_before": os.getloadavg()[0],
        },
        "versions": {
            "arbiterd": output(str(programs.arbiterd), "--version"),
            "redis": programs.redis and output(programs.redis, "--version"),
            "etcd": programs.etcd and output(programs.etcd, "--version").partition("\n")[0],
        },
    }


def command(target: str, is_quick: bool) -> str:
    """What to type to repeat this run; a daemon that was built elsewhere is mentioned, but not its place."""
    usual = Path(__file__).resolve().parents[2] / ".build/release/arbiterd"
    another_daemon = "ARBITERD=… " if Path(os.environ.get("ARBITERD") or usual) != usual else ""
    return f"{'QUICK=1 ' if is_quick else ''}{another_daemon}make {target}"


def commit() -> str:
    """The commit that is checked out, marked if files differ from it."""
    changed = output("git", "status", "--porcelain", "--untracked-files=no")
    return output("git", "rev-parse", "--short", "HEAD") + (" with changes" if changed else "")


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def file_system(directory: Path) -> str:
    """The type of the file system that a directory is on."""
    device = os.stat(directory).st_dev
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        mount, _, source = line.partition(" - ")
        if mount.split()[2] == f"{os.major(device)}:{os.minor(device)}":
            return source.split()[0]
    return "unknown"


def output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def headline(description: dict) -> str:
    """One line for above the table."""
    machine = description["machine"]
    return (f"{description['date'][:10]}, {machine['processor']} with {machine['processors']} processors, "
            f"Linux {machine['kernel']}, commit {description['commit']}, `{description['command']}`")
