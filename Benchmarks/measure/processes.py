"""Processes of servers: started, watched, and ended by their id."""

import contextlib
import os
import selectors
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

PATIENCE_SECONDS = 30


class ServerFailed(Exception):
    """A server did not become ready."""


def free_port() -> int:
    """A port of loopback that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def start(command: list[str], log: Path) -> subprocess.Popen:
    with log.open("ab") as errors:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors)


@contextlib.contextmanager
def running(command: list[str], log: Path) -> Iterator[subprocess.Popen]:
    """Runs a server with its standard error in a log, and ends it afterwards."""
    process = start(command, log)
    try:
        yield process
    finally:
        end(process)


def end(process: subprocess.Popen) -> None:
    """Ends a process, at the latest by SIGKILL."""
    process.terminate()
    try:
        process.wait(PATIENCE_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    process.stdout.close()


def port_of_ready_line(process: subprocess.Popen, log: Path) -> int:
    """Waits for the line that a server prints when it is ready, which ends with its port."""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        if not selector.select(PATIENCE_SECONDS):
            raise ServerFailed(f"{process.args[0]} is not ready: {log.read_text()}")
    line = process.stdout.readline().decode()
    if ":" not in line:
        raise ServerFailed(f"{process.args[0]} has ended: {log.read_text()}")
    return int(line.rsplit(":", 1)[1])


def wait_until(is_ready: Callable[[], bool], process: subprocess.Popen, log: Path) -> None:
    """Asks a server that says nothing by itself, until it is ready."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not is_ready():
        if process.poll() is not None or time.monotonic() > deadline:
            raise ServerFailed(f"{process.args[0]} is not ready: {log.read_text()}")
        time.sleep(0.02)


def processor_seconds(pid: int) -> float:
    """What all threads of a process took so far, in user and system mode; in steps of 10 ms."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_peak(pid: int) -> int:
    """The most memory that a process has had in RAM, in bytes."""
    fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(fields["VmHWM"].split()[0]) * 1024


def bytes_written(pid: int) -> int:
    """What a process has given to write calls.

    `write_bytes` would be what the disk gets, but it counts whole folios of the page cache, which may be megabytes.
    """
    fields = dict(line.split(": ") for line in Path(f"/proc/{pid}/io").read_text().splitlines())
    return int(fields["wchar"])
