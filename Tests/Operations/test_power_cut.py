"""What a power cut, of which the journal remembers another boot of the machine, takes from whom."""

from collections.abc import Callable

import pytest
from conftest import Daemon, Tool, arbiterd


@pytest.fixture
def cut(another_boot) -> Callable[[Daemon], None]:
    """Ends a daemon as if the machine had died: it has booted since, and the journal was not closed."""

    def cut(running: Daemon) -> None:
        running.kill()
        another_boot(running)

    return cut


def test_on_loopback_grants_go_on_at_once_and_fences_jump(daemon, cut):
    running = daemon()
    before = running.ask("POST", "/transitions/start", {"scene": "held"})[1]
    cut(running)
    running.start()
    assert running.ask("GET", "/readyz")[0] == 200
    granted = running.ask("POST", "/transitions/start", {"scene": "free"})
    assert granted[0] == 201
    assert granted[1]["fence"] > before["fence"] + 1_000_000


def test_where_clients_may_have_outlived_it_all_say_that_nothing_is_granted(daemon, cut):
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


def test_who_waits_for_the_disk_has_lost_nothing_and_goes_on_at_once(daemon, cut):
    running = daemon("--allow-host", "kiosk.example", "--durability", "power")
    held = running.ask("POST", "/transitions/start", {"scene": "held", "leaseSeconds": 300})[1]
    cut(running)
    running.start()
    assert running.said is None
    assert running.ask("GET", "/readyz")[0] == 200
    assert running.ask("POST", "/transitions/renew", {"id": held["id"], "token": held["token"]})[0] == 200
    granted = running.ask("POST", "/transitions/start", {"scene": "free"})
    assert granted[0] == 201
    assert granted[1]["fence"] > held["fence"] + 1_000_000


@pytest.mark.parametrize("durability", ["crash", "power"])
def test_a_machine_that_was_switched_off_in_order_has_lost_nothing(daemon, another_boot, durability):
    running = daemon("--allow-host", "kiosk.example", "--durability", durability)
    held = running.ask("POST", "/transitions/start", {"scene": "held", "leaseSeconds": 300})[1]
    running.stop()
    another_boot(running)
    running.start()
    assert running.said is None
    granted = running.ask("POST", "/transitions/start", {"scene": "free"})
    assert (granted[0], granted[1]["fence"]) == (201, held["fence"] + 1)


def test_a_copy_may_lack_records_in_whatever_boot_it_is_started(daemon, cut, tmp_path):
    running = daemon("--durability", "power")
    running.ask("POST", "/transitions/start", {"scene": "held"})
    data = tmp_path / "data"
    backup = arbiterd("journal", "backup", tmp_path / "copy", "--data", data)
    assert backup.returncode == 0, backup.stderr
    cut(running)
    data.rename(tmp_path / "old")
    restore = arbiterd("journal", "restore", tmp_path / "copy", "--data", data)
    assert restore.returncode == 0, restore.stderr
    running.start()
    assert running.said == "; nothing is granted for 420 seconds"
    running.stop()


def test_who_allows_shorter_leases_waits_for_less(daemon, cut):
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
