"""A disk that refuses, tears, lies or hangs beneath a running daemon: what clients hear, and what is left."""

import contextlib
import errno
import http.client
import os
import resource
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from answered import Answered
from conftest import Daemon, arbiterd
from disks import Memory
from storage_faults import Call, Faults
from waiting import PATIENCE, Load, polled

either_durability = pytest.mark.parametrize("durability", ["crash", "power"])

# What a commit does, and what the first commit of a process does, which begins a log.
COMMIT = {"crash": [Call.WRITE], "power": [Call.WRITE, Call.SYNCHRONIZE]}
FIRST_COMMIT = [Call.CREATE, Call.WRITE, Call.SYNCHRONIZE, Call.RENAME, Call.SYNCHRONIZE_DIRECTORY]
WORDS = {errno.ENOSPC: "make room on its disk", errno.EROFS: "how its disk is mounted", errno.EIO: "Input/output error"}


def is_ready(running: Daemon) -> bool:
    return running.ask("GET", "/readyz")[0] == 200


def restart(running: Daemon) -> None:
    """Starts it again on a disk without faults, and not where its connections were."""
    running.environment = {}
    running.start()


def refused_and_taken_up(running: Daemon, answered: Answered, faults: Faults, calls: list[Call], error: int) -> None:
    """Has a client meet faults that are there already, and ends them."""
    keyed = {"Idempotency-Key": f"refused-{error}-{len(answered.fences)}-0123456789abcdef"}
    body = {"scene": f"refused-{error}-{len(answered.fences)}", "leaseSeconds": 300}
    status, refusal = running.ask("POST", "/transitions/start", body, keyed)
    assert faults.met(*calls) > 0
    assert (status, refusal["code"]) == (503, "journal-unavailable")
    assert 1 <= refusal["retryAfter"] <= 10
    assert WORDS[error] in refusal["detail"]
    # Whoever asks hears the same, and nothing that is not in the journal.
    for method, path in [("GET", "/readyz"), ("GET", "/transitions")]:
        status, refusal = running.ask(method, path)
        assert (status, refusal["code"]) == (503, "journal-unavailable")
        assert "tries again within" in refusal["detail"]
    assert running.ask("GET", "/livez")[0] == 200
    faults.clear()
    assert polled(lambda: is_ready(running))
    running.log.next("the journal has been opened again")
    # It may have been started.
    status, started = running.ask("POST", "/transitions/start", body, keyed)
    assert status in (200, 201)
    answered.held[started["id"]] = started["token"]
    answered.fences.append(started["fence"])
    answered.expect_all(running)


@pytest.mark.parametrize(("calls", "error"), [
    ([Call.WRITE], errno.ENOSPC), ([Call.WRITE], errno.EIO), ([Call.SYNCHRONIZE], errno.EIO),
    ([Call.SYNCHRONIZE], errno.ENOSPC),
    ([Call.WRITE, Call.CREATE, Call.OPEN, Call.RENAME, Call.TRUNCATE, Call.REMOVE], errno.EROFS),
])
@either_durability
def test_a_commit_that_fails_takes_nothing_back(daemon, faults, durability, calls, error):
    if not set(calls) & set(COMMIT[durability]):
        pytest.skip("such a commit does not wait for the disk")
    running = daemon("--durability", durability, environment=faults.environment)
    answered = Answered()
    started = [answered.start(running, f"s{number}") for number in range(3)]
    answered.end(running, started[0]["id"])
    faults.fail(*calls, error=error)
    refused_and_taken_up(running, answered, faults, calls, error)
    running.kill()
    restart(running)
    answered.expect_all(running)


@pytest.mark.parametrize("call", FIRST_COMMIT)
@either_durability
def test_a_first_commit_that_fails_takes_nothing_back(daemon, faults, durability, call):
    running = daemon("--durability", durability, environment=faults.environment)
    answered = Answered()
    answered.start(running, "earlier")
    running.stop()
    running.start()
    # After a clean stop it has nothing to write before it is asked.
    error = errno.ENOSPC if call in (Call.CREATE, Call.WRITE) else errno.EIO
    faults.fail(call, error=error)
    refused_and_taken_up(running, answered, faults, [call], error)
    running.kill()
    restart(running)
    answered.expect_all(running)


@pytest.mark.parametrize("is_cut", [True, False])
@pytest.mark.parametrize("after", [27, 40])
@either_durability
def test_a_group_that_is_written_in_part_is_cut_off(daemon, faults, tmp_path, durability, after, is_cut):
    running = daemon("--durability", durability, environment=faults.environment)
    answered = Answered()
    for number in range(3):
        answered.start(running, f"s{number}")
    faults.fail(Call.WRITE, error=errno.ENOSPC, after=after)
    if not is_cut:
        faults.fail(Call.TRUNCATE, error=errno.EIO)
    refused_and_taken_up(running, answered, faults, [Call.WRITE], errno.ENOSPC)
    torn = [path.stat().st_size for path in (tmp_path / "data").glob("torn-*")]
    # By the daemon itself if it can, else by the next that writes. Zeros at its end are no part of it.
    assert torn == [] if is_cut else len(torn) == 1 and 0 < torn[0] <= after
    running.kill()
    restart(running)
    answered.expect_all(running)


@pytest.mark.parametrize("after", [1, 27, 28, 40])
@either_durability
def test_a_group_in_whose_middle_the_daemon_was_killed_is_cut_off(daemon, faults, tmp_path, durability, after):
    running = daemon("--durability", durability, environment=faults.environment)
    answered = Answered()
    for number in range(3):
        answered.start(running, f"s{number}")
    log = tmp_path / "data" / "log-1"
    before = log.read_bytes().rstrip(bytes(1))
    faults.hang(Call.WRITE, after=after)
    hanging = Request(lambda: answered.start(running, "hanging"))
    assert polled(lambda: faults.met(Call.WRITE) == 2)
    running.kill()
    assert hanging.wait() is None
    left = log.read_bytes().rstrip(bytes(1))
    restart(running)
    answered.expect_all(running)
    torn = [path.stat().st_size for path in (tmp_path / "data").glob("torn-*")]
    # A group begins with its checksum, whose first byte may be zero: zeros alone are not torn.
    assert len(torn) == (left != before) and all(0 < size <= after for size in torn)
    assert after == 1 or torn


def test_what_the_disk_has_refused_is_not_relied_on_although_it_can_be_read(daemon, faults, tmp_path):
    """Linux takes the pages for written after an error, so that a later call of fdatasync succeeds without them."""
    running = daemon("--durability", "power", environment=faults.environment)
    answered = Answered()
    answered.start(running, "before")
    log = tmp_path / "data" / "log-1"
    written = log.read_bytes().rstrip(bytes(1))
    faults.fail(Call.SYNCHRONIZE, error=errno.EIO)
    assert answered.start(running, "refused") is None
    faults.clear()
    assert polled(lambda: is_ready(running))
    answered.expect_all(running)
    assert log.read_bytes().rstrip(bytes(1)) == written
    running.kill()
    restart(running)
    answered.expect_all(running)


@either_durability
def test_faults_under_load_take_nothing_back(daemon, faults, durability):
    running = daemon("--durability", durability, environment=faults.environment)
    answered = Answered()
    for calls, error, after in [
        ([Call.WRITE], errno.ENOSPC, 0), ([Call.WRITE], errno.EIO, 100), (COMMIT[durability][-1:], errno.EIO, 0),
    ]:
        with Load(*answered.clients(running)) as load:
            load.wait_for_steps(60)
            before = faults.met(*calls)
            faults.fail(*calls, error=error, after=after)
            assert polled(lambda: faults.met(*calls) > before)
            assert polled(lambda: not is_ready(running))
            faults.clear()
            assert polled(lambda: is_ready(running))
            load.wait_for_steps(60)
    with Load(*answered.clients(running)) as load:
        load.wait_for_steps(30)
        faults.fail(*COMMIT[durability], error=errno.EIO)
        assert polled(lambda: not is_ready(running))
        running.kill()
    restart(running)
    answered.expect_all(running)


@either_durability
def test_a_daemon_tries_again_while_the_fault_is_there(daemon, faults, durability):
    running = daemon("--durability", durability, environment=faults.environment)
    answered = Answered()
    answered.start(running, "earlier")
    faults.fail(Call.WRITE, error=errno.ENOSPC)
    assert answered.start(running, "refused") is None
    # The second is that of the first try.
    for seconds in (1, 2):
        assert polled(lambda: f"tries again within {seconds} s" in running.ask("GET", "/readyz")[1]["detail"])
    faults.clear()
    assert polled(lambda: is_ready(running))
    answered.expect_all(running)


@pytest.mark.parametrize("call", FIRST_COMMIT)
@either_durability
def test_a_journal_that_cannot_be_begun_is_none(daemon, faults, tmp_path, durability, call):
    faults.fail(call, error=errno.EROFS)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in faults.environment.items():
            patch.setenv(name, value)
        refused = arbiterd("--listen", "127.0.0.1:0", "--data", tmp_path / "data", "--durability", durability)
    assert refused.returncode == os.EX_IOERR, refused.stderr
    assert len(refused.stderr.splitlines()) == 1
    running = daemon("--durability", durability)
    assert running.said is None
    assert running.ask("POST", "/transitions/start", {})[1]["fence"] == 1


@either_durability
def test_a_close_that_fails_looks_like_a_kill(daemon, faults, durability):
    running = daemon("--allow-host", "kiosk.example", "--durability", durability, environment=faults.environment)
    answered = Answered()
    answered.start(running, "held")
    faults.fail(Call.WRITE, error=errno.ENOSPC)
    running.stop()
    assert "the journal cannot be written" in running.log.all()
    faults.clear()
    running.start()
    assert running.said is None
    answered.expect_all(running)
    assert answered.fences[-1] > 1_000_000


@either_durability
def test_a_disk_that_was_full_takes_nothing_back(daemon, tmp_path, durability):
    with Memory(tmp_path / "disk", 2 << 20) as disk:
        running = daemon("--durability", durability, directory=disk.place)
        answered = Answered()
        answered.start(running, "before")
        filler = disk.fill()
        # There may be room in what the log has already.
        while answered.start(running, f"filling-{len(answered.fences)}") is not None:
            pass
        assert "make room on its disk" in running.ask("GET", "/readyz")[1]["detail"]
        filler.unlink()
        assert polled(lambda: is_ready(running))
        answered.expect_all(running)
        running.kill()
        running.start()
        answered.expect_all(running)
        running.stop()


# MARK: - Commits that hang


class ServiceManager:
    """What the daemon tells that has started it."""

    def __init__(self, path: Path) -> None:
        self.environment = {"NOTIFY_SOCKET": str(path), "WATCHDOG_USEC": "100000"}
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(path))

    def receive(self, seconds: float = PATIENCE) -> str | None:
        self.socket.settimeout(seconds)
        with contextlib.suppress(TimeoutError):
            return self.socket.recv(4096).decode()
        return None

    def is_silent(self) -> bool:
        """Whether nothing comes for so long that ten signs of life would have."""
        return self.receive(1) is None

    def expect_signs(self) -> None:
        for _ in range(3):
            assert self.receive() == "WATCHDOG=1"


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[ServiceManager]:
    manager = ServiceManager(tmp_path / "notify")
    yield manager
    manager.socket.close()


class Request:
    """A request that is answered later, or never."""

    def __init__(self, ask: Callable[[], object]) -> None:
        self.answer: object = None
        self._thread = threading.Thread(target=self._run, args=[ask], daemon=True)
        self._thread.start()

    def _run(self, ask: Callable[[], object]) -> None:
        with contextlib.suppress(OSError, http.client.HTTPException):
            self.answer = ask()

    @property
    def is_over(self) -> bool:
        return not self._thread.is_alive()

    def wait(self) -> object:
        self._thread.join(PATIENCE)
        assert self.is_over
        return self.answer


HANGS = [("crash", Call.WRITE), ("power", Call.WRITE), ("power", Call.SYNCHRONIZE)]


@pytest.mark.parametrize(("durability", "call"), HANGS)
def test_while_a_commit_hangs_nothing_is_answered_and_there_are_no_signs_of_life(daemon, faults, manager, durability, call):
    running = daemon(
        "--durability", durability, "--threads", "4", environment={**faults.environment, **manager.environment})
    assert manager.receive().startswith("READY=1")
    answered = Answered()
    answered.start(running, "earlier")
    manager.expect_signs()
    faults.hang(call)
    requests = [Request(lambda: answered.start(running, "hanging"))]
    assert polled(lambda: faults.met(call) == 1)
    requests += [Request(lambda number=number: answered.start(running, f"behind-{number}")) for number in range(2)]
    # What was asked before is no part of what hangs; afterwards there is nothing.
    assert polled(manager.is_silent)
    assert not any(request.is_over for request in requests)
    assert faults.met(call) == 1
    if durability == "power":
        # No thread that serves connections waits for the disk.
        assert running.ask("GET", "/livez")[0] == 200
    faults.clear()
    assert all(request.wait() for request in requests)
    manager.expect_signs()
    assert is_ready(running)
    answered.expect_all(running)
    running.kill()
    restart(running)
    answered.expect_all(running)


@pytest.mark.parametrize(("durability", "call"), HANGS)
def test_a_daemon_that_hangs_is_killed_and_has_lost_nothing(daemon, faults, durability, call):
    running = daemon("--durability", durability, environment=faults.environment)
    answered = Answered()
    with Load(*answered.clients(running)) as load:
        load.wait_for_steps(40)
        faults.hang(call)
        assert polled(lambda: faults.met(call) > 0)
        running.kill()
    restart(running)
    answered.expect_all(running)


@either_durability
def test_a_file_that_may_not_grow_is_a_full_disk(daemon, durability):
    running = daemon("--durability", durability)
    assert running.ask("POST", "/transitions/start", {"scene": "before"})[0] == 201
    before = resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE, (100, before[1]))
    status, refused = running.ask("POST", "/transitions/start", {"scene": "during"})[:2]
    assert status == 503 and refused["code"] == "journal-unavailable" and "make room" in refused["detail"]
    resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE, before)
    assert polled(lambda: is_ready(running))
    assert running.ask("POST", "/transitions/start", {"scene": "before"})[0] == 409
