"""Backups of the journal, taken and restored under load, and what else is done with its files."""

import contextlib
import fcntl
import os
import re
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Daemon, arbiterd, ask
from waiting import PATIENCE, Load

either_durability = pytest.mark.parametrize("durability", ["crash", "power"])


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def size(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.iterdir())


def back_up(data: Path, copy: Path) -> str:
    made = arbiterd("journal", "backup", copy, "--data", data)
    assert made.returncode == 0, made.stderr
    return made.stdout


def restore(copy: Path, data: Path) -> None:
    made = arbiterd("journal", "restore", copy, "--data", data)
    assert made.returncode == 0, made.stderr


@either_durability
def test_a_backup_under_load_has_everything_that_was_answered_before(daemon, tmp_path, durability):
    running = daemon("--durability", durability)
    data, copy = tmp_path / "data", tmp_path / "copy"
    ended: list[list[str]] = [[] for _ in range(4)]
    # The load waits while a copy is looked at, or the journal would take ever longer to be restored and read.
    goes_on = threading.Event()
    goes_on.set()

    def cycles(index: int) -> Iterator[None]:
        with contextlib.closing(running.connect()) as connection:
            while True:
                goes_on.wait(PATIENCE)
                started = ask(connection, "POST", "/transitions/start", {"scene": f"s{index}"})[1]
                ask(connection, "POST", "/transitions/end", {"id": started["id"], "token": started["token"]})
                ended[index].append(started["id"])
                yield

    with Load(*map(cycles, range(len(ended)))) as load:
        for number in range(3):
            load.wait_for_steps(100)
            answered = {id for ids in ended for id in list(ids)}
            held = running.ask("POST", "/transitions/start", {"scene": f"held{number}", "leaseSeconds": 300})[1]
            # Each takes the place of the one before.
            assert "is sound" in back_up(data, copy)
            goes_on.clear()
            restored = tmp_path / f"restored{number}"
            restore(copy, restored)
            exported = set(re.findall(r"t-[0-9a-z]+", arbiterd("journal", "export", "--data", restored).stdout))
            goes_on.set()
            assert answered <= exported
            assert held["id"] in exported
    assert names(tmp_path) == ["copy", "data", *(f"restored{number}" for number in range(3))]

    # A daemon on the last one knows what was held, and grants nothing while leases from since may be held.
    running.stop()
    running.directory = tmp_path / "other"
    (tmp_path / "other").mkdir()
    restored.rename(tmp_path / "other" / "data")
    running.start()
    shown = running.ask("GET", f"/transitions/{held['id']}")[1]
    assert shown["state"] == "running"
    assert running.ask("GET", "/readyz")[0] == 503
    assert running.ask("POST", "/transitions/start", {"scene": "free"})[1]["code"] == "recovering"
    renewed = running.ask("POST", "/transitions/renew", {"id": held["id"], "token": held["token"]})
    assert renewed[0] == 200


@either_durability
def test_fences_jump_behind_those_given_after_the_backup(daemon, tmp_path, durability):
    running = daemon("--durability", durability)
    running.ask("POST", "/transitions/start", {"scene": "a"})
    back_up(tmp_path / "data", tmp_path / "copy")
    later = running.ask("POST", "/transitions/start", {"scene": "b"})[1]
    running.stop()
    restore(tmp_path / "copy", tmp_path / "new" / "data")
    running.directory = tmp_path / "new"
    running._options = ["--trust-leases-over", "--durability", durability]
    running.start()
    granted = running.ask("POST", "/transitions/start", {"scene": "c"})[1]
    assert granted["fence"] > later["fence"]


@either_durability
def test_a_backup_is_replaced_by_a_later_one_of_the_same_journal_only(daemon, tmp_path, durability):
    running = daemon("--durability", durability)
    running.ask("POST", "/transitions/start", {"scene": "a"})
    data, copy, earlier = tmp_path / "data", tmp_path / "copy", tmp_path / "earlier"
    back_up(data, earlier)
    running.ask("POST", "/transitions/start", {"scene": "b"})
    back_up(data, copy)
    running.stop()
    # Nothing new has happened, and a copy of a journal that was closed is a copy as well.
    back_up(data, copy)
    manifest = (copy / "manifest.json").read_text()

    def refuses(journal: Path, target: Path) -> None:
        refused = arbiterd("journal", "backup", target, "--data", journal)
        assert refused.returncode != 0
        assert "it is no earlier backup of this journal: move it away first" in refused.stderr

    # It has less than the copy.
    restore(earlier, tmp_path / "older")
    refuses(tmp_path / "older", copy)
    running.directory = tmp_path / "another"
    running.start()
    for number in range(10):
        running.ask("POST", "/transitions/start", {"scene": f"s{number}"})
    refuses(tmp_path / "another" / "data", copy)
    running.stop()
    for content in [None, "", "no backup"]:
        thing = tmp_path / f"thing{content}"
        thing.mkdir() if content is None else thing.write_text(content)
        refuses(data, thing)
        assert thing.is_dir() if content is None else thing.read_text() == content
    refuses(data, data)
    assert (copy / "manifest.json").read_text() == manifest
    restore(copy, tmp_path / "restored")
    assert not list(tmp_path.glob("**/*.part"))


def test_what_a_killed_backup_left_behind_is_removed_by_the_next_one(daemon, tmp_path):
    running = daemon()
    running.ask("POST", "/transitions/start", {"scene": "a"})
    data, copy = tmp_path / "data", tmp_path / "copy"
    back_up(data, copy)
    # As processes leave it that are killed before the first file, before the manifest is whole, while a snapshot is written, and
    # after the copy had its name. Process 1 lives, and makes no backup.
    (tmp_path / "copy.99999.part").mkdir()
    for process in (1, 99998, 99997):
        shutil.copytree(copy, tmp_path / f"copy.{process}.part")
    (tmp_path / "copy.99998.part" / "manifest.json").write_text("{")
    (tmp_path / "copy.99997.part" / "snapshot-7.new").write_text("")
    # Of another name, or not of a backup.
    others = ["other.99999.part", "copy.1st.part", "copy.01.part", "copy.part"]
    for name in others:
        (tmp_path / name).mkdir()
    notes, file = tmp_path / "copy.2024.part" / "notes", tmp_path / "copy.2025.part"
    notes.parent.mkdir()
    notes.write_text("mine")
    file.write_text("mine")
    link = tmp_path / "copy.2026.part"
    link.symlink_to(tmp_path / "linked")
    shutil.copytree(copy, tmp_path / "linked")
    # A process that lives has locked its own.
    held = tmp_path / "copy.99996.part"
    shutil.copytree(copy, held)
    descriptor = os.open(held, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)

    back_up(data, copy)
    kept = sorted([*others, notes.parent.name, file.name, link.name, held.name])
    assert sorted(path.name for path in tmp_path.glob("*.part")) == kept
    assert notes.read_text() == file.read_text() == "mine"
    assert names(tmp_path / "linked") == names(held) == names(copy)
    os.close(descriptor)
    back_up(data, copy)
    assert not held.exists()


def is_locked(directory: Path) -> bool:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def stopped_backup(data: Path, copy: Path) -> tuple[subprocess.Popen, Path]:
    """A backup that is stopped while it is made, and where it is made."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        backup = subprocess.Popen([os.environ["ARBITERD"], "journal", "backup", copy, "--data", data])
        part = copy.with_name(f"{copy.name}.{backup.pid}.part")
        while backup.poll() is None:
            if part.exists():
                backup.send_signal(signal.SIGSTOP)
                os.waitid(os.P_PID, backup.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
                if part.exists() and is_locked(part):
                    return backup, part
                backup.send_signal(signal.SIGCONT)
                break
        assert backup.wait(PATIENCE) == 0
    raise AssertionError("no backup was stopped while it had locked what it makes")


def test_a_backup_that_is_being_made_is_not_taken_for_one_that_was_left_behind(daemon, tmp_path):
    running = daemon()
    for number in range(100):
        running.ask("POST", "/transitions/start", {"scene": f"s{number}"})
    data, copy = tmp_path / "data", tmp_path / "copy"
    back_up(data, copy)
    backup, part = stopped_backup(data, copy)
    back_up(data, copy)
    assert part.exists()
    backup.send_signal(signal.SIGCONT)
    assert backup.wait(PATIENCE) == 0
    backup, part = stopped_backup(data, copy)
    backup.kill()
    backup.wait(PATIENCE)
    assert part.exists()
    back_up(data, copy)
    assert not list(tmp_path.glob("*.part"))
    restore(copy, tmp_path / "restored")


@pytest.mark.parametrize("closed", [False, True])
@either_durability
def test_what_would_overwrite_or_disturb_is_refused(daemon, tmp_path, durability, closed):
    running = daemon("--durability", durability)
    running.ask("POST", "/transitions/start", {})
    data, copy = tmp_path / "data", tmp_path / "copy"
    back_up(data, copy)
    for arguments in [["restore", copy], ["compact"]]:
        refused = arbiterd("journal", *arguments, "--data", data)
        assert refused.returncode != 0
        assert "another arbiterd uses" in refused.stderr
    running.stop() if closed else running.kill()
    before = {path.name: path.read_bytes() for path in data.iterdir()}
    refused = arbiterd("journal", "restore", copy, "--data", data)
    assert refused.returncode != 0
    assert "already: move it away first" in refused.stderr
    assert arbiterd("journal", "backup", copy, "--data", tmp_path / "nowhere").returncode != 0
    assert not (tmp_path / "nowhere").exists()
    assert {path.name: path.read_bytes() for path in data.iterdir()} == before
    for directory in [data, copy]:
        assert {path.stat().st_mode & 0o777 for path in [directory, *directory.iterdir()]} == {0o600, 0o700}


@pytest.mark.parametrize("harm", ["cut", "change", "remove"])
def test_a_damaged_copy_is_not_restored(daemon, tmp_path, harm):
    running = daemon()
    for number in range(10):
        running.ask("POST", "/transitions/start", {"scene": f"s{number}"})
    back_up(tmp_path / "data", tmp_path / "copy")
    running.stop()
    whole = tmp_path / "copy"
    for name in names(whole):
        copy, fresh = tmp_path / f"copy-{name}", tmp_path / f"fresh-{name}"
        shutil.copytree(whole, copy)
        content = (copy / name).read_bytes()
        match harm:
            case "cut":
                (copy / name).write_bytes(content[:-10])
            case "change":
                middle = len(content) // 2
                (copy / name).write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1:])
            case "remove":
                (copy / name).unlink()
        refused = arbiterd("journal", "restore", copy, "--data", fresh)
        assert refused.returncode != 0, name
        # There is nothing that a daemon could take for a journal.
        assert not fresh.exists() or names(fresh) == ["lock"]
        restore(whole, fresh)


@either_durability
def test_a_file_that_was_left_behind_is_not_taken_for_the_copy_s_own(daemon, tmp_path, durability):
    running = daemon("--durability", durability)
    data, copy = tmp_path / "data", tmp_path / "copy"
    running.ask("POST", "/transitions/start", {})
    back_up(data, copy)
    running.kill()
    running.start()
    running.ask("POST", "/transitions/start", {"scene": "second"})
    running.kill()
    logs = [name for name in names(data) if name.startswith("log-")]
    assert len(logs) == 2
    for name in logs:
        left = tmp_path / f"left-{name}"
        left.mkdir()
        shutil.copy(data / name, left)
        refused = arbiterd("journal", "restore", copy, "--data", left)
        assert refused.returncode != 0
        assert "already: move it away first" in refused.stderr
        assert names(left) == sorted([name, "lock"])


def fill(running: Daemon) -> None:
    """Has records that a snapshot does not need: a storyboard that replaces another."""
    with contextlib.closing(running.connect()) as connection:
        for number in range(20):
            views = [f"{number}-{child}".ljust(100, "v") for child in range(100)]
            storyboard = {"root": {"id": "root", "kind": "tabs", "children": views}}
            assert ask(connection, "PUT", "/scenes/main/storyboard", storyboard)[0] == 200


def test_a_part_of_a_restored_journal_is_not_started(daemon, tmp_path):
    running = daemon()
    fill(running)
    running.stop()
    data, copy = tmp_path / "data", tmp_path / "copy"
    assert arbiterd("journal", "compact", "--data", data).returncode == 0
    back_up(data, copy)
    restore(copy, tmp_path / "whole" / "data")
    assert [name.split("-")[0] for name in names(tmp_path / "whole" / "data")] == ["lock", "log", "snapshot"]
    # The names that a restore was killed between.
    part = tmp_path / "part"
    shutil.copytree(tmp_path / "whole" / "data", part)
    next(part.glob("snapshot-*")).unlink()
    refused = arbiterd("--listen", "127.0.0.1:0", "--data", part)
    assert refused.returncode == os.EX_DATAERR
    assert "are missing" in refused.stderr
    running.directory = tmp_path / "whole"
    running.start()
    assert running.said == "; nothing is granted for 420 seconds"


@either_durability
def test_a_journal_that_was_not_closed_is_not_compacted(daemon, tmp_path, durability):
    running = daemon("--durability", durability)
    running.ask("POST", "/transitions/start", {})
    running.kill()
    refused = arbiterd("journal", "compact", "--data", tmp_path / "data")
    assert refused.returncode != 0
    assert "was not closed" in refused.stderr
    running.start()
    assert running.ask("POST", "/transitions/start", {"scene": "other"})[0] == 201


@either_durability
def test_a_compacted_journal_says_the_same_and_is_smaller(daemon, tmp_path, durability):
    running = daemon("--durability", durability)
    fill(running)
    held = running.ask("POST", "/transitions/start", {"scene": "held", "leaseSeconds": 300})[1]
    ended = running.ask("POST", "/transitions/start", {"scene": "ended"})[1]
    running.ask("POST", "/transitions/end", {"id": ended["id"], "token": ended["token"]})
    before = running.ask("GET", "/transitions?limit=1000")[1]
    running.stop()
    data = tmp_path / "data"
    sizes = [size(data)]
    for _ in range(2):
        compacted = arbiterd("journal", "compact", "--data", data)
        assert compacted.returncode == 0, compacted.stderr
        assert arbiterd("journal", "verify", "--data", data).returncode == 0
        inspected = arbiterd("journal", "inspect", "--data", data).stdout
        assert re.search("^closed +yes$", inspected, re.MULTILINE)
        assert re.search("^records +0 after it$", inspected, re.MULTILINE)
        sizes.append(size(data))
    assert sizes[0] > sizes[1] == sizes[2]
    running.start()
    assert running.said is None
    after = running.ask("GET", "/transitions?limit=1000")[1]
    ids = lambda answer: [each["id"] for each in answer["transitions"]]
    assert ids(after) == ids(before)
    renewed = running.ask("POST", "/transitions/renew", {"id": held["id"], "token": held["token"]})
    assert renewed[0] == 200
    # What follows is behind the snapshot, in a backup too.
    back_up(data, tmp_path / "copy")
    running.stop()
    restore(tmp_path / "copy", tmp_path / "restored")
