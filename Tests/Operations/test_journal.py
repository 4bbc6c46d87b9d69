"""Backups of the journal, taken and restored under load."""

import contextlib
import os
import re
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

from conftest import ask
from waiting import PATIENCE, Load


def arbiterd(*arguments: object) -> subprocess.CompletedProcess:
    return subprocess.run([os.environ["ARBITERD"], *map(str, arguments)], capture_output=True, text=True)


def test_a_backup_under_load_has_everything_that_was_answered_before(daemon, tmp_path):
    running = daemon()
    data, copy = tmp_path / "data", tmp_path / "copy.sqlite"
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
        for number in range(5):
            load.wait_for_steps(100)
            answered = {id for ids in ended for id in list(ids)}
            held = running.ask("POST", "/transitions/start", {"scene": f"held{number}", "leaseSeconds": 300})[1]
            made = arbiterd("journal", "backup", f"{copy}{number}", "--data", data)
            assert made.returncode == 0, made.stderr
            assert "is sound" in made.stdout
            goes_on.clear()
            restored = tmp_path / f"restored{number}"
            again = arbiterd("journal", "restore", f"{copy}{number}", "--data", restored)
            assert again.returncode == 0, again.stderr
            exported = set(re.findall(r"t-[0-9a-z]+", arbiterd("journal", "export", "--data", restored).stdout))
            goes_on.set()
            assert answered <= exported
            assert held["id"] in exported

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


def test_fences_jump_behind_those_given_after_the_backup(daemon, tmp_path):
    running = daemon()
    running.ask("POST", "/transitions/start", {"scene": "a"})
    assert arbiterd("journal", "backup", tmp_path / "copy", "--data", tmp_path / "data").returncode == 0
    later = running.ask("POST", "/transitions/start", {"scene": "b"})[1]
    running.stop()
    assert arbiterd("journal", "restore", tmp_path / "copy", "--data", tmp_path / "new" / "data").returncode == 0
    running.directory = tmp_path / "new"
    running._options = ["--trust-leases-over"]
    running.start()
    granted = running.ask("POST", "/transitions/start", {"scene": "c"})[1]
    assert granted["fence"] > later["fence"]


def test_what_would_overwrite_or_disturb_is_refused(daemon, tmp_path):
    running = daemon()
    running.ask("POST", "/transitions/start", {})
    data, copy = tmp_path / "data", tmp_path / "copy"
    assert arbiterd("journal", "backup", copy, "--data", data).returncode == 0
    for arguments, reason in [
        (["backup", copy], "there is a file"), (["restore", copy], "another arbiterd uses"),
        (["compact"], "another arbiterd uses"),
    ]:
        refused = arbiterd("journal", *arguments, "--data", data)
        assert refused.returncode != 0
        assert reason in refused.stderr
    running.stop()
    refused = arbiterd("journal", "restore", copy, "--data", data)
    assert "already: move it away first" in refused.stderr
    assert arbiterd("journal", "backup", copy, "--data", tmp_path / "nowhere").returncode != 0
    copy.write_bytes(copy.read_bytes()[:5000])
    assert arbiterd("journal", "restore", copy, "--data", tmp_path / "fresh").returncode != 0
    assert not (tmp_path / "fresh" / "journal.sqlite").exists()
    assert not list(tmp_path.glob("**/*.part"))
    assert (os.stat(data / "journal.sqlite").st_mode & 0o777) == 0o600


def test_a_log_that_was_left_behind_is_not_taken_for_the_copy_s_own(daemon, tmp_path):
    running = daemon()
    running.ask("POST", "/transitions/start", {})
    data, copy = tmp_path / "data", tmp_path / "copy"
    assert arbiterd("journal", "backup", copy, "--data", data).returncode == 0
    running.kill()
    assert (data / "journal.sqlite-wal").exists()
    (data / "journal.sqlite").rename(tmp_path / "old")
    refused = arbiterd("journal", "restore", copy, "--data", data)
    assert refused.returncode != 0
    assert "journal.sqlite-wal already: move it away first" in refused.stderr
    assert not (data / "journal.sqlite").exists()


def test_a_journal_that_was_not_closed_is_not_compacted(daemon, tmp_path):
    running = daemon()
    running.ask("POST", "/transitions/start", {})
    running.kill()
    refused = arbiterd("journal", "compact", "--data", tmp_path / "data")
    assert refused.returncode != 0
    assert "was not closed" in refused.stderr
    running.start()
    assert running.ask("POST", "/transitions/start", {"scene": "other"})[0] == 201


def test_a_compacted_journal_says_the_same_and_is_smaller(daemon, tmp_path):
    running = daemon()
    connection = running.connect()
    held = ask(connection, "POST", "/transitions/start", {"scene": "held", "leaseSeconds": 300})[1]
    for number in range(12_000):
        body = {"scene": f"s{number % 50}", "client": "x" * 100}
        started = ask(connection, "POST", "/transitions/start", body)[1]
        if number % 50 or number < 11_000:
            ask(connection, "POST", "/transitions/end", {"id": started["id"], "token": started["token"]})
    connection.close()
    before = running.ask("GET", "/transitions?limit=1000")[1]
    running.stop()
    data = tmp_path / "data"
    journal: Path = data / "journal.sqlite"
    compacted = arbiterd("journal", "compact", "--data", data)
    assert compacted.returncode == 0, compacted.stderr
    assert arbiterd("journal", "verify", "--data", data).returncode == 0
    assert "closed      yes" in arbiterd("journal", "inspect", "--data", data).stdout
    size = journal.stat().st_size
    assert arbiterd("journal", "compact", "--data", data).returncode == 0
    assert journal.stat().st_size <= size
    running.start()
    after = running.ask("GET", "/transitions?limit=1000")[1]
    ids = lambda answer: [each["id"] for each in answer["transitions"]]
    assert ids(after) == ids(before)
    renewed = running.ask("POST", "/transitions/renew", {"id": held["id"], "token": held["token"]})
    assert renewed[0] == 200
