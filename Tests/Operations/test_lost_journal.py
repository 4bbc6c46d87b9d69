"""A running daemon whose journal somebody deletes, moves, replaces or changes: it ends, and answers nothing that is not kept."""

import contextlib
import http.client
import itertools
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from answered import Answered
from conftest import Daemon, arbiterd, ask
from waiting import PATIENCE, Load, polled

either_durability = pytest.mark.parametrize("durability", ["crash", "power"])

# What another program appends.
WRITTEN = b"another program was here\n"


def newest_log(data: Path) -> Path:
    return max(data.glob("log-*"), key=lambda path: int(path.name.removeprefix("log-")))


def earliest_log(data: Path) -> Path:
    return min(data.glob("log-*"), key=lambda path: int(path.name.removeprefix("log-")))


def empty(data: Path, _: Path) -> None:
    newest_log(data).write_bytes(b"")


def cut(data: Path, _: Path) -> None:
    log = newest_log(data)
    os.truncate(log, log.stat().st_size - 10)


def extend(data: Path, _: Path) -> None:
    with newest_log(data).open("ab") as log:
        log.write(WRITTEN)


def overwrite(data: Path, other: Path) -> None:
    """As `cp` does, with the log of another process."""
    shutil.copyfile(earliest_log(other), newest_log(data))


def go_back(data: Path, other: Path) -> None:
    """As `cp` does, with what the log was earlier."""
    shutil.copyfile(newest_log(other), newest_log(data))


def replace_by_itself(data: Path, _: Path) -> None:
    """As an editor or `sed -i` does: the bytes are the same."""
    log = newest_log(data)
    shutil.copy(log, log.with_name("copy"))
    log.with_name("copy").rename(log)


def replace_by_another(data: Path, other: Path) -> None:
    shutil.copy(newest_log(other), data / "copy")
    (data / "copy").rename(newest_log(data))


def delete_log(data: Path, _: Path) -> None:
    newest_log(data).unlink()


def move_log(data: Path, _: Path) -> None:
    newest_log(data).rename(data.with_name("away"))


def delete_earlier_log(data: Path, _: Path) -> None:
    earliest_log(data).unlink()


def delete_snapshot(data: Path, _: Path) -> None:
    next(data.glob("snapshot-*")).unlink()


def move_directory(data: Path, _: Path) -> None:
    data.rename(data.with_name("away"))


def delete_directory(data: Path, _: Path) -> None:
    shutil.rmtree(data)


def replace_directory(data: Path, other: Path) -> None:
    data.rename(data.with_name("away"))
    shutil.copytree(other, data)


DEEDS = [
    empty, cut, extend, overwrite, go_back, replace_by_itself, replace_by_another, delete_log, move_log, delete_earlier_log,
    delete_snapshot, move_directory, delete_directory, replace_directory,
]


@pytest.fixture(scope="module")
def journals(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Makes a journal with a snapshot and a log behind it, once for each durability."""
    directory = tmp_path_factory.mktemp("journals")

    def made(durability: str) -> Path:
        if (directory / durability).exists():
            return directory / durability / "data"
        (directory / durability).mkdir()
        running = Daemon(directory / durability, "--durability", durability)
        with contextlib.closing(running.connect()) as connection:
            for number in range(20):
                views = [f"{number}-{child}".ljust(100, "v") for child in range(100)]
                storyboard = {"root": {"id": "root", "kind": "tabs", "children": views}}
                assert ask(connection, "PUT", "/scenes/main/storyboard", storyboard)[0] == 200
        running.stop()
        data = directory / durability / "data"
        assert arbiterd("journal", "compact", "--data", data).returncode == 0
        running.start()
        assert running.ask("POST", "/transitions/start", {"scene": "earlier"})[0] == 201
        running.stop()
        return data

    return made


@pytest.fixture
def begun(journals, daemon, tmp_path: Path) -> Callable[..., Daemon]:
    """A daemon with a snapshot, an earlier log, and one of its own; and in `other` an earlier journal."""

    def begin(durability: str) -> Daemon:
        shutil.copytree(journals(durability), tmp_path / "data")
        running = daemon("--durability", durability)
        assert running.ask("POST", "/transitions/start", {"scene": "begun"})[0] == 201
        shutil.copytree(tmp_path / "data", tmp_path / "other")
        assert sorted(path.name.split("-")[0] for path in (tmp_path / "data").iterdir()) == ["lock", "log", "log", "snapshot"]
        return running

    return begin


def expect_lost(running: Daemon) -> None:
    assert running.process.wait(PATIENCE) == os.EX_IOERR
    log = running.log.all()
    assert "has been moved, deleted, replaced or changed" in log
    assert log.count("the journal cannot be written") == 1


@pytest.mark.parametrize(
    ("durability", "deed"), [*(("crash", deed) for deed in DEEDS), *(("power", deed) for deed in (cut, extend, go_back))],
    ids=lambda value: getattr(value, "__name__", value))
def test_an_idle_daemon_ends_when_its_journal_is_not_its_own_any_more(begun, tmp_path, durability, deed):
    running = begun(durability)
    # Who waits is told.
    assert running.ask("POST", "/transitions/start", {"scene": "held", "leaseSeconds": 300})[0] == 201
    connection = running.connect()
    body = '{"scene": "held", "wait": 60}'
    connection.request("POST", "/transitions/serialize", body, {"Content-Type": "application/json"})
    assert polled(lambda: len(running.ask("GET", "/transitions?scene=held")[1]["transitions"]) == 2)
    deed(tmp_path / "data", tmp_path / "other")
    response = connection.getresponse()
    assert response.status == 503
    assert b"journal-unavailable" in response.read()
    connection.close()
    expect_lost(running)


@pytest.mark.parametrize(
    ("durability", "deed"),
    [*(("crash", deed) for deed in DEEDS),
     *(("power", deed) for deed in (cut, extend, overwrite, go_back, delete_log, replace_directory))],
    ids=lambda value: getattr(value, "__name__", value))
def test_under_load_nothing_is_answered_after_the_deed_that_is_not_kept(begun, tmp_path, durability, deed):
    running = begun(durability)
    is_done = threading.Event()
    # Those whose requests were sent after the deed.
    late: list[dict] = []

    def work(index: int) -> Iterator[None]:
        with contextlib.closing(running.connect()) as connection, contextlib.suppress(OSError, http.client.HTTPException):
            for number in itertools.count():
                is_late = is_done.is_set()
                status, answer = ask(connection, "POST", "/transitions/start", {"scene": f"s{index}-{number}"})
                if status == 201 and is_late:
                    late.append(answer)
                assert status == 201 or answer["code"] in ("journal-unavailable", "draining"), answer
                yield

    with Load(*map(work, range(4))) as load:
        load.wait_for_steps(40)
        deed(tmp_path / "data", tmp_path / "other")
        is_done.set()
        expect_lost(running)
    # A commit sees whether its log is there, and how long it is; what else there was, the next look sees, half a second later.
    if deed not in (delete_earlier_log, delete_snapshot) and (durability, deed) != ("power", go_back):
        assert late == []


def test_groups_behind_those_that_are_gone_do_not_hide_it(begun, tmp_path):
    running = begun("power")
    # Zeros have been written ahead, so the log has the same size as earlier.
    for number in range(3):
        assert running.ask("POST", "/transitions/start", {"scene": f"gone-{number}"})[0] == 201
    go_back(tmp_path / "data", tmp_path / "other")

    def work() -> Iterator[None]:
        with contextlib.closing(running.connect()) as connection, contextlib.suppress(OSError, http.client.HTTPException):
            for number in itertools.count():
                ask(connection, "POST", "/transitions/start", {"scene": f"behind-{number}"})
                yield

    with Load(work()):
        expect_lost(running)


@pytest.mark.parametrize("deed", [move_log, move_directory, replace_directory, extend], ids=lambda deed: deed.__name__)
@either_durability
def test_what_was_answered_is_in_the_journal_that_is_put_back(daemon, tmp_path, durability, deed):
    running = daemon("--durability", durability)
    answered = Answered()
    data, away = tmp_path / "data", tmp_path / "away"
    shutil.copytree(data, tmp_path / "other")
    with Load(*answered.clients(running)) as load:
        load.wait_for_steps(40)
        deed(data, tmp_path / "other")
        expect_lost(running)
    if deed is move_log:
        away.rename(data / "log-1")
    elif deed is extend:
        log = data / "log-1"
        os.truncate(log, log.read_bytes().index(WRITTEN))
    else:
        shutil.rmtree(data, ignore_errors=True)
        away.rename(data)
    running._options = (*running._options, "--trust-leases-over")
    running.start()
    answered.expect_all(running)
