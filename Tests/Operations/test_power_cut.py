"""What a power cut, of which the journal remembers another boot of the machine, takes from whom."""

import signal
import subprocess
import sys

from conftest import Daemon, Tool

# Gives a journal another boot, and leaves its write-ahead log there, which SQLite would remove at its end.
ANOTHER_BOOT = """
import os, signal, sqlite3, sys
journal = sqlite3.connect(sys.argv[1])
journal.execute("UPDATE life SET boot = 'another'")
journal.commit()
os.kill(os.getpid(), signal.SIGKILL)
"""


def cut(running: Daemon) -> None:
    """Ends the daemon as if the machine had died: it has booted since, and the journal was not closed."""
    running.kill()
    run = subprocess.run([sys.executable, "-c", ANOTHER_BOOT, running.directory / "data" / "journal.sqlite"])
    assert run.returncode == -signal.SIGKILL


def test_on_loopback_grants_go_on_at_once_and_fences_jump(daemon):
    running = daemon()
    before = running.ask("POST", "/transitions/start", {"scene": "held"})[1]
    cut(running)
    running.start()
    assert running.ask("GET", "/readyz")[0] == 200
    granted = running.ask("POST", "/transitions/start", {"scene": "free"})
    assert granted[0] == 201
    assert granted[1]["fence"] > before["fence"] + 1_000_000


def test_where_clients_may_have_outlived_it_all_say_that_nothing_is_granted(daemon):
    # By a name it is reached through a proxy.
    running = daemon("--allow-host", "kiosk.example")
    running.ask("POST", "/transitions/start", {"scene": "held"})
    cut(running)
    running.start()
    assert running.said == "; nothing is granted for 420 seconds"
    assert "seconds=420" in running.log.next("nothing is granted until every lease is over")
    assert running.ask("GET", "/readyz")[1]["code"] == "recovering"
    refused = running.ask("POST", "/transitions/start", {"scene": "main"})
    assert (refused[0], refused[1]["code"]) == (503, "recovering")
    assert 300 < refused[1]["retryAfter"] <= 420
    ticket = running.ask("POST", "/transitions/serialize?wait=0", {"scene": "main", "client": "menu", "ticketSeconds": 600})[1]
    assert ticket["state"] == "queued"
    assert 300 < ticket["resumeRemaining"] <= 420
    shown = Tool(running).run("queue", "--scene", "main")
    assert "nothing is granted for" in shown.stdout
    doctor = Tool(running).run("doctor")
    assert doctor.returncode == 125
    assert "nothing is granted for" in doctor.stdout


def test_who_allows_shorter_leases_waits_for_less(daemon):
    options = ["--allow-host", "kiosk.example", "--max-lease-seconds", "10", "--max-wait-seconds", "1"]
    running = daemon(*options)
    refused = running.ask("POST", "/transitions/start", {"leaseSeconds": 11})
    assert (refused[0], refused[1]["field"]) == (400, "leaseSeconds")
    assert "0.1 to 10 seconds" in refused[1]["detail"]
    running.ask("POST", "/transitions/start", {"leaseSeconds": 10, "maxHoldSeconds": 60})
    limits = running.ask("GET", "/scenes/main")[1]["limits"]
    assert (limits["leaseSeconds"], limits["wait"]) == (10, 1)
    cut(running)
    running.start()
    assert running.said == "; nothing is granted for 11 seconds"
    ticket = running.ask("POST", "/transitions/serialize?wait=0", {"scene": "free", "ticketSeconds": 600})[1]
    running.log.next("grants go on")
    acting = {"id": ticket["id"], "token": ticket["token"]}
    assert running.ask("POST", "/transitions/await", {**acting, "wait": 30})[1]["state"] == "running"
    # It asks for longer, and is answered.
    waiting = running.ask("POST", "/transitions/serialize", {"scene": "free", "wait": 60})
    assert waiting[1]["state"] == "queued"


def test_a_default_lease_of_a_scene_is_no_longer_than_the_longest(daemon):
    running = daemon("--max-lease-seconds", "60")
    storyboard = {"root": {"id": "nav", "kind": "navigation"}, "defaults": {"leaseSeconds": 61}}
    assert running.ask("PUT", "/scenes/main/storyboard", storyboard)[0] == 400
    storyboard["defaults"]["leaseSeconds"] = 60
    assert running.ask("PUT", "/scenes/main/storyboard", storyboard)[0] == 200
    running.stop()
    # A lower limit than that of before has it say what to give.
    running._options = ("--max-lease-seconds", "30")
    running.start()
    refused = running.ask("POST", "/transitions/start", {})
    assert (refused[0], refused[1]["field"]) == (400, "leaseSeconds")
    assert "give leaseSeconds" in refused[1]["detail"]
    assert running.ask("POST", "/transitions/start", {"leaseSeconds": 30})[0] == 201
