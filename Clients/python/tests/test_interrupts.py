"""A KeyboardInterrupt, wherever it comes, leaves nothing held."""

import contextlib
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import transition_arbiter
from harness import PATIENCE, Daemon
from transition_arbiter import Arbiter

# Only a lease that runs out, or a keeper that gives up, takes this long: parts of the time that a scenario may take.
LEASE = 6.0
# From which moments are drawn, always the same unless the night says otherwise.
SEED = int(os.environ.get("ARBITER_SEED", 1))
# Whose steps are interrupted: this client, and what of the standard library it calls to start and to end a keeper.
FILES = {threading.__file__, contextlib.__file__} | {
    str(path) for path in Path(transition_arbiter.__file__).parent.glob("*.py")}


class Interrupter:
    """Counts the steps of a call in this thread, and raises KeyboardInterrupt at one of them.

    CPython looks whether a signal has come when a function begins, and after a call of one that is written in C; these are the
    steps. The end of a function is one too, although it does not look there.
    """

    def __init__(self, is_with: bool, at: int | None = None) -> None:
        self.steps = 0
        self.place: str | None = None
        """Where it was interrupted."""
        self._at = at
        self._is_with = is_with
        """Whether a `with` statement surrounds it, so that nothing that has begun may be lost."""

    def run(self, call: Callable[[], None]) -> None:
        sys.setprofile(self._step)
        try:
            call()
        finally:
            sys.setprofile(None)

    def _step(self, frame, event, _) -> None:
        code = frame.f_code
        # What a finalizer raises would be told and ignored.
        # And what `start` has returned is its caller's, who is not interrupted before it has it.
        if event == "return" and code.co_name in ("start", "_held") and not self._is_with:
            return
        if event == "c_call" or code.co_name in ("__del__", "backoff") or not (code.co_filename in FILES or code is hold.__code__):
            return
        self.steps += 1
        if self.steps - 1 == self._at:
            self.place = f"{Path(code.co_filename).name}:{frame.f_lineno} {code.co_name} ({event})"
            sys.setprofile(None)
            raise KeyboardInterrupt


def hold(arbiter: Arbiter, scene: str) -> None:
    with arbiter.scene(scene).transition(lease_seconds=LEASE):
        arbiter.scene(scene).name


def begin(arbiter: Arbiter, scene: str) -> None:
    transition = arbiter.scene(scene).start(lease_seconds=LEASE)
    # What is done with it is the caller's business.
    sys.setprofile(None)
    assert transition is not None
    transition.complete()


def is_interrupt(error: BaseException | None) -> bool:
    return error is not None and (isinstance(error, KeyboardInterrupt) or is_interrupt(error.__context__))


def until_free(daemon: Daemon, places: dict[str, str]) -> float:
    """How long it takes until each of these scenes is free, in seconds: at most what a lease and its last await take."""
    began = time.monotonic()
    with Arbiter(daemon.url, client="next") as following:
        for scene, place in places.items():
            left = began + PATIENCE - time.monotonic()
            try:
                following.scene(scene).serialize(timeout=max(0.0, left)).complete()
            except transition_arbiter.TimedOut:
                pytest.fail(f"{scene} is still held after an interrupt at {place}")
    return time.monotonic() - began


def interrupt_everywhere(daemon: Daemon, use: Callable[[Arbiter, str], None], most: int) -> None:
    """Interrupts the use at each of its steps, or at so many of them that are drawn at random."""
    draw = random.Random(SEED)
    with Arbiter(daemon.url, client="interrupted") as arbiter:
        # From now on it has a session and a connection.
        use(arbiter, "first")
        counter = Interrupter(use is hold)
        counter.run(lambda: use(arbiter, "counted"))
        steps = range(counter.steps)
        places = {}
        for at in steps if len(steps) <= most else sorted(draw.sample(steps, most)):
            interrupter = Interrupter(use is hold, at)
            try:
                interrupter.run(lambda: use(arbiter, f"s{at}"))
            except (KeyboardInterrupt, RuntimeError) as error:
                # In a method of `threading` it becomes another error.
                assert interrupter.place is not None and is_interrupt(error)
                places[f"s{at}"] = interrupter.place
        assert len(places) > min(most, len(steps)) / 2
        took = until_free(daemon, places)
        print(f"{len(places)} of {len(steps)} steps; free after {took:.2f} s")
        # It works as before.
        use(arbiter, "last")


# A step may be one of a finalizer, in which an error is told and ignored.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


# How many steps there are depends on how quick the keeper is.
def test_an_interrupt_at_any_step_of_a_with_statement(daemon):
    interrupt_everywhere(daemon(), hold, 1500)


def test_an_interrupt_at_any_step_of_start(daemon):
    interrupt_everywhere(daemon(), begin, 500)


def test_signals_at_random_moments(daemon):
    running = daemon()
    draw = random.Random(SEED)
    places = {}
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        with Arbiter(running.url, client="interrupted") as arbiter:
            began = time.monotonic()
            for number in range(10):
                hold(arbiter, f"first-{number}")
            usual = (time.monotonic() - began) / 10
            for number in range(300):
                try:
                    signal.setitimer(signal.ITIMER_REAL, draw.uniform(1e-6, usual))
                    hold(arbiter, f"s{number}")
                    signal.setitimer(signal.ITIMER_REAL, 0)
                except (KeyboardInterrupt, RuntimeError) as error:
                    # In a method of `threading` it becomes another error.
                    assert is_interrupt(error)
                    places[f"s{number}"] = "a moment"
            signal.setitimer(signal.ITIMER_REAL, 0)
            assert places
            took = until_free(running, places)
            print(f"{len(places)} interrupts within {1000 * usual:.1f} ms each; free after {took:.2f} s")
            hold(arbiter, "last")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture
def interruptible():
    """SIGINT raises KeyboardInterrupt, which a shell turns off in what it runs in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_while_the_end_is_asked_for(daemon):
    running = daemon()
    stopped = threading.Event()
    with Arbiter(running.url, client="interrupted") as arbiter:
        def interrupt_when_ending() -> None:
            assert stopped.wait(PATIENCE)
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            os.kill(running.process.pid, signal.SIGCONT)

        helper = threading.Thread(target=interrupt_when_ending)
        helper.start()
        with pytest.raises(KeyboardInterrupt):
            with arbiter.scene().transition(lease_seconds=LEASE):
                # Nothing is answered any more, so that the interrupt comes while the end is asked for.
                os.kill(running.process.pid, signal.SIGSTOP)
                stopped.set()
        helper.join()
        until_free(running, {"main": "the request for the end"})
