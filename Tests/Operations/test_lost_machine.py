"""The death of the machine under load, on a real file system.

The daemon writes to an ext4 on a file. From one instant on, nothing more is written to that (EXT4_IOC_SHUTDOWN): it has what had
been written until then, and not what was in the memory of the machine. A daemon in another boot goes on with it, for as many lives
as ROUNDS says. A disk that says too early that it has something is no part of this.
"""

import errno
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from answered import Answered
from conftest import Daemon
from disks import Image
from storage_faults import Call, Faults
from waiting import Load, polled

ROUNDS = int(os.environ.get("ROUNDS", "2"))
# How files get their sizes and their bytes in another order.
MOUNTS = ["data=ordered", "data=writeback", "data=journal", "data=ordered,nodelalloc", "data=writeback,nodelalloc"]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Image]:
    with Image(tmp_path / "disk") as disk:
        yield disk


@pytest.fixture
def start(disk, daemon) -> Callable[..., Daemon]:
    return lambda *options, **more: daemon("--durability", *options, directory=disk.place, **more)


def come_back(running: Daemon, disk: Image, another_boot: Callable[[Daemon], None], mount: str) -> None:
    """Starts what the machine starts when it is switched on again."""
    if running.process.poll() is None:
        running.kill()
    disk.unmount()
    disk.mount(mount)
    another_boot(running)
    running.start()


def lose_machine(running: Daemon, disk: Image, answered: Answered, number: int) -> None:
    """Has clients work until the machine dies, each time a little later, and with other things on the disk."""
    with Load(*answered.clients(running)) as load:
        load.wait_for_steps(20 + number * 13 % 50)
        if number % 3 == 1:
            subprocess.run(["sync", "--file-system", disk.place], check=True)
            load.wait_for_steps(10 + number % 7)
        elif number % 3 == 2:
            # The bytes of some pages, and not what says how long the file is.
            logs = sorted((disk.place / "data").glob("log-*"), key=lambda path: int(path.name.removeprefix("log-")))
            subprocess.run(["sync", "--data", logs[number % len(logs)]], check=True)
        disk.die()
        # Whoever is answered until then is answered rightly.
        assert polled(lambda: running.ask("GET", "/readyz")[0] == 503)
        running.kill()


def test_nothing_that_was_answered_is_lost_with_the_machine_if_commits_wait_for_the_disk(disk, start, another_boot):
    running = start("power", "--allow-host", "kiosk.example")
    answered = Answered()
    for number in range(ROUNDS):
        lose_machine(running, disk, answered, number)
        come_back(running, disk, another_boot, MOUNTS[(number + 1) % len(MOUNTS)])
        assert running.said is None
        answered.expect_all(running)


def test_without_waiting_for_the_disk_the_daemon_goes_on_and_no_fence_is_given_twice(disk, start, another_boot):
    running = start("crash")
    answered = Answered()
    for number in range(ROUNDS):
        lose_machine(running, disk, answered, number)
        come_back(running, disk, another_boot, MOUNTS[(number + 1) % len(MOUNTS)])
        # Its clients were on the machine.
        assert running.said is None
        highest = max(answered.fences)
        answered.forget(answered.missing(running))
        granted = answered.start(running, f"after-{number}")
        assert granted["fence"] > highest
        # What it has, it keeps, and what is granted is granted once.
        answered.expect_all(running)
    running.stop()


def test_a_disk_that_is_not_waited_for_loses_answers(disk, start, faults, another_boot):
    """Otherwise the other tests would show nothing."""
    faults = Faults(Path(faults.environment["LD_PRELOAD"]), disk.place / "data", Path(faults.environment["STORAGE_FAULTS"]))
    running = start("power", environment=faults.environment)
    answered = Answered()
    answered.start(running, "before")
    faults.lie(Call.SYNCHRONIZE)
    later = [answered.start(running, f"s{number}")["id"] for number in range(5)]
    assert faults.met(Call.SYNCHRONIZE) >= 5
    disk.die()
    faults.clear()
    come_back(running, disk, another_boot, "data=ordered")
    assert sorted(answered.missing(running)) == sorted(later)


@pytest.mark.parametrize("durability", ["crash", "power"])
def test_a_daemon_whose_disk_is_mounted_again_goes_on_by_itself(disk, start, durability):
    running = start(durability)
    answered = Answered()
    answered.start(running, "before")
    disk.refuse_writes()
    status, refused = running.ask("POST", "/transitions/start", {"scene": "refused"})
    assert (status, refused["code"]) == (503, "journal-unavailable")
    assert os.strerror(errno.EROFS) in refused["detail"] or os.strerror(errno.EIO) in refused["detail"]
    # It does not keep the files open that it cannot write.
    disk.unmount()
    disk.mount()
    running.log.next("the journal has been opened again")
    answered.expect_all(running)
    running.stop()
