"""The access file, written by several people at once, or not a file at all."""

import os
import signal
import subprocess

import pytest
from waiting import PATIENCE


def arbiterd(*arguments: object) -> subprocess.Popen:
    return subprocess.Popen(
        [os.environ["ARBITERD"], *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_entries_that_are_made_at_once_are_all_there(daemon, tmp_path):
    access = tmp_path / "access.yaml"
    making = [arbiterd("access", "new", f"p{number}", "--role", "observe", "--scene", "*", "--access", access)
              for number in range(12)]
    secrets = []
    for each in making:
        secret, error = each.communicate(timeout=PATIENCE)
        assert each.returncode == 0, error
        secrets.append(secret.strip())
    running = daemon("--access", str(access))
    for secret in secrets:
        assert running.ask("GET", "/transitions", headers={"Authorization": f"Bearer {secret}"})[0] == 200


def test_a_link_stays_a_link(tmp_path):
    target, link = tmp_path / "target.yaml", tmp_path / "link.yaml"
    target.write_text("principals:\n")
    link.symlink_to(target)
    arbiterd("access", "new", "p", "--role", "observe", "--scene", "*", "--access", link).communicate(timeout=PATIENCE)
    assert link.is_symlink()
    assert "name" in target.read_text()


def test_a_pipe_in_the_place_of_a_file_stops_nothing(daemon, tmp_path):
    access = tmp_path / "access.yaml"
    access.write_text("principals: []\n")
    running = daemon("--access", str(access), "--allow-no-one")
    access.unlink()
    os.mkfifo(access)
    running.process.send_signal(signal.SIGHUP)
    running.log.next("is not a file")
    running.stop()
    for command in (["config", "check"], ["access", "list"], []):
        refused = arbiterd(*command, "--access", access)
        assert "is not a file" in refused.communicate(timeout=PATIENCE)[1]
        assert refused.returncode != 0


def test_what_is_wrong_in_the_file_is_said_with_its_place(tmp_path):
    access = tmp_path / "access.yaml"
    access.write_text("principals: [{name: a, user: no-such-user, roles: observe, scenes: a}]\n")
    listed = arbiterd("access", "list", "--access", access)
    assert listed.communicate(timeout=PATIENCE)[1] == f"arbiterd: {access}:1: there is no user no-such-user\n"


EMPTY = pytest.mark.parametrize("text", ["", "{}\n", "principals:\n", "principals: []\n", "# nobody\n"])


@EMPTY
def test_a_file_without_entries_is_a_mistake(daemon, tmp_path, text):
    access = tmp_path / "access.yaml"
    access.write_text(text)
    words = f"{access}: has no entries, so that every client would be refused; --allow-no-one if that is meant"
    for command in (["config", "check"], ["--listen", "127.0.0.1:0", "--journal", "memory"]):
        refused = arbiterd(*command, "--access", access)
        assert words in refused.communicate(timeout=PATIENCE)[1]
        assert refused.returncode == 78  # EX_CONFIG
    # The settings are right otherwise, and the list is one.
    assert arbiterd("access", "list", "--access", access).wait(PATIENCE) == 0
    running = daemon("--access", str(access), environment={"ARBITERD_ALLOW_NO_ONE": "true"})
    assert running.ask("GET", "/transitions")[0] == 401


@EMPTY
def test_a_file_that_is_emptied_leaves_the_entries_as_they_were(daemon, tmp_path, text):
    access = tmp_path / "access.yaml"
    secret = arbiterd("access", "new", "p", "--role", "observe", "--scene", "*", "--access", access).communicate(
        timeout=PATIENCE)[0].strip()
    running = daemon("--access", str(access))

    def status() -> int:
        return running.ask("GET", "/transitions", headers={"Authorization": f"Bearer {secret}"})[0]

    assert status() == 200
    access.write_text(text)
    running.process.send_signal(signal.SIGHUP)
    running.log.next("the access file is wrong, and the entries stay as they were")
    assert status() == 200


def test_a_file_that_is_emptied_on_purpose_refuses_every_client(daemon, tmp_path):
    access = tmp_path / "access.yaml"
    secret = arbiterd("access", "new", "p", "--role", "observe", "--scene", "*", "--access", access).communicate(
        timeout=PATIENCE)[0].strip()
    running = daemon("--access", str(access), "--allow-no-one")
    access.write_text("{}\n")
    running.process.send_signal(signal.SIGHUP)
    running.log.next("the access file has been read again")
    assert running.ask("GET", "/transitions", headers={"Authorization": f"Bearer {secret}"})[0] == 401
