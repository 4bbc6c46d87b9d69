"""Real file systems for a test: one in memory, and one on a file that stays when its machine dies. They need root."""

import contextlib
import fcntl
import os
import struct
import subprocess
from pathlib import Path
from typing import Self

import pytest
from waiting import polled

# linux/fs/ext4: EXT4_IOC_SHUTDOWN, _IOR('X', 125, __u32), and EXT4_GOING_FLAGS_NOLOGFLUSH
SHUTDOWN = 0x8004587D
WITHOUT_ITS_LOG = 2

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
_said: set[str] = set()


def skip(reason: str) -> None:
    """Skips a test because of the machine, and has the table of the steps say so."""
    if reason not in _said:
        _said.add(reason)
        subprocess.run([SCRIPTS / "skip", reason], check=True)
    pytest.skip(reason)


def run(*command: object) -> None:
    done = subprocess.run([*map(str, command)], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}: {done.stderr}"


class Disk:
    """A file system that is mounted at a directory."""

    def __init__(self, place: Path) -> None:
        self.place = place
        place.mkdir()

    def __enter__(self) -> Self:
        try:
            self.mount()
        except (AssertionError, FileNotFoundError):
            skip("file systems cannot be mounted here (that needs root)")
        return self

    def __exit__(self, *_: object) -> None:
        # At once, or when a daemon that a failed test has left has ended.
        subprocess.run(["umount", "--lazy", self.place], capture_output=True)

    def mount(self) -> None:
        raise NotImplementedError

    def unmount(self) -> None:
        """Waits until nobody uses it."""
        assert polled(lambda: subprocess.run(["umount", self.place], capture_output=True).returncode == 0)


class Memory(Disk):
    """A file system in memory that is soon full."""

    def __init__(self, place: Path, bytes: int) -> None:
        self._bytes = bytes
        super().__init__(place)

    def mount(self) -> None:
        run("mount", "-t", "tmpfs", "-o", f"size={self._bytes}", "tmpfs", self.place)

    def fill(self) -> Path:
        """Leaves no room, and returns what has it."""
        filler = self.place / "filler"
        with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(bytes(4096))
        return filler


class Image(Disk):
    """An ext4 on a file, which has what was written to it when its machine died."""

    def __init__(self, place: Path, mebibytes: int = 64) -> None:
        self._image = place.with_suffix(".image")
        with self._image.open("wb") as file:
            file.truncate(mebibytes << 20)
        super().__init__(place)

    def __enter__(self) -> Self:
        with contextlib.suppress(FileNotFoundError):
            subprocess.run(["mkfs.ext4", "-q", "-F", self._image], stdin=subprocess.DEVNULL, check=True)
        return super().__enter__()

    def mount(self, options: str = "data=ordered") -> None:
        run("mount", "-t", "ext4", "-o", f"loop,noatime,{options}", self._image, self.place)

    def unmount(self) -> None:
        super().unmount()
        # Another process that has made a mount namespace meanwhile, as containers do, keeps what is mounted. Then the same file would
        # be mounted as the same file system, which has died; a copy is another one.
        copy = self._image.with_suffix(".copy")
        run("cp", "--sparse=always", self._image, copy)
        copy.replace(self._image)

    def die(self) -> None:
        """Writes nothing from this instant on, not even the log of the file system; what asks for it gets EIO."""
        directory = os.open(self.place, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.ioctl(directory, SHUTDOWN, struct.pack("I", WITHOUT_ITS_LOG))
        finally:
            os.close(directory)

    def refuse_writes(self) -> None:
        """Is mounted read-only from now on, as after an error of the disk, although files are open."""
        run("mount", "-o", "remount,abort", self.place)
