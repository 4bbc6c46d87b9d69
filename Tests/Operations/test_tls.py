"""TLS, with the clients that people use."""

import contextlib
import http.client
import json
import os
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import Authority, ask, openssl, plain_socket
from waiting import Load


def served(authority: Authority, name: str = "server") -> list[str]:
    certificate, key = authority.sign(name, "serverAuth")
    return ["--tls-certificate", str(certificate), "--tls-key", str(key)]


TLS = {"listen": "tls:127.0.0.1:0"}


def curl(*arguments: object) -> subprocess.CompletedProcess:
    return subprocess.run(["curl", "-sS", *map(str, arguments)], capture_output=True, text=True)


def test_curl_speaks_with_it_and_refuses_a_certificate_that_it_does_not_trust(daemon, authority):
    trusted, other = authority("trusted"), authority("other")
    running = daemon(*served(trusted), **TLS)
    url = running.urls[0]
    assert url.startswith("https://127.0.0.1:")
    assert curl("--cacert", trusted.certificate, f"{url}/livez").stdout == '{"status":"live"}\n'
    assert curl("--cacert", other.certificate, f"{url}/livez").returncode == 60
    started = curl("--cacert", trusted.certificate, "-X", "POST", f"{url}/transitions/start")
    assert '"state":"running"' in started.stdout


def test_plain_http_gets_no_answer(daemon, authority):
    running = daemon(*served(authority("a")), **TLS)
    assert curl(f"http://127.0.0.1:{running.port}/livez").stdout == ""


def test_what_cannot_be_read_is_refused_over_tls_too(daemon, authority):
    trusted = authority("a")
    running = daemon(*served(trusted), **TLS)
    with trusted.trust().wrap_socket(
        plain_socket(running.port), server_hostname="127.0.0.1", suppress_ragged_eofs=False
    ) as client:
        client.sendall(b"GET /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n")
        refused = http.client.HTTPResponse(client)
        refused.begin()
        assert (refused.status, refused.headers["Content-Type"]) == (400, "application/problem+json; charset=utf-8")
        assert json.load(refused)["field"] == "Content-Length"
        assert client.recv(1) == b""


@pytest.mark.parametrize("version, works", [("1.1", False), ("1.2", True), ("1.3", True)])
def test_it_speaks_tls_1_2_and_1_3(daemon, authority, version, works):
    trusted = authority("a")
    running = daemon(*served(trusted), **TLS)
    option = "-tls" + version.replace(".", "_").removesuffix("_0")
    shown = subprocess.run(
        ["openssl", "s_client", "-connect", f"127.0.0.1:{running.port}", option, "-cipher", "DEFAULT@SECLEVEL=0",
         "-CAfile", str(trusted.certificate)],
        input="", capture_output=True, text=True)
    assert ("subject=CN = server" in shown.stdout) == works


def test_waiting_and_streams_work_and_a_closed_connection_is_noticed(daemon, authority):
    trusted = authority("a")
    context = trusted.trust()
    running = daemon(*served(trusted), **TLS)
    holder = running.ask("POST", "/transitions/start", {"leaseSeconds": 300}, context=context)[1]
    waiting = running.connect(context)
    waiting.request("POST", "/transitions/serialize?wait=60", "{}", {"Content-Type": "application/json"})
    events = running.follow("/scenes/main/events?since=0", context=context)
    abandoned = events.next("transition.queued")
    waiting.close()
    ended = events.next("transition.ended")
    assert (ended["id"], ended["reason"]) == (abandoned["id"], "abandoned")
    again = running.connect(context)
    again.request("POST", "/transitions/serialize?wait=60", "{}", {"Content-Type": "application/json"})
    events.next("transition.queued")
    ended = running.ask("POST", "/transitions/end", {"id": holder["id"], "token": holder["token"]}, context=context)
    assert ended[0] == 200
    assert again.getresponse().status == 201
    assert events.next("transition.ended")["id"] == holder["id"]


def test_a_large_body_and_a_long_answer_pass(daemon, authority):
    trusted = authority("a")
    context = trusted.trust()
    running = daemon(*served(trusted), **TLS)
    children = [{"id": f"tab-{number}-{'x' * 80}", "kind": "view"} for number in range(5000)]
    storyboard = {"root": {"id": "tabs", "kind": "tabs", "children": children}}
    assert running.ask("PUT", "/scenes/main/storyboard", storyboard, context=context)[0] == 200
    status, shown = running.ask("GET", "/scenes/main/storyboard", context=context)
    assert status == 200
    assert len(shown["root"]["children"]) == 5000


def test_a_new_certificate_is_shown_to_new_connections_and_no_connection_is_dropped(daemon, authority, tmp_path):
    first, second = authority("first"), authority("second")
    pairs = [first.sign("server", "serverAuth"), second.sign("server", "serverAuth")]
    certificate, key = tmp_path / "shown.crt", tmp_path / "shown.key"

    def show(pair):
        shutil.copy(pair[0], certificate)
        shutil.copy(pair[1], key)

    show(pairs[0])
    running = daemon("--tls-certificate", str(certificate), "--tls-key", str(key), **TLS)
    both = ssl.create_default_context()
    for each in (first, second):
        both.load_verify_locations(str(each.certificate))

    def cycles(index: int) -> Iterator[None]:
        with contextlib.closing(running.connect(both)) as kept:
            while True:
                with contextlib.closing(running.connect(both)) as fresh:
                    for connection in (kept, fresh):
                        status, started = ask(connection, "POST", "/transitions/start", {"scene": f"s{index}"})
                        assert status == 201, started
                        assert ask(connection, "POST", "/transitions/end",
                                   {"id": started["id"], "token": started["token"]})[0] == 200
                        yield

    with Load(*map(cycles, range(8))) as load:
        for turn in range(6):
            load.wait_for_steps(40)
            show(pairs[(turn + 1) % 2])
            running.reload()
            now = [first, second][(turn + 1) % 2]
            assert running.ask("GET", "/livez", context=now.trust())[0] == 200
    assert running.ask("GET", "/livez", context=first.trust())[0] == 200


def test_hundreds_of_reloads_under_load_end_nothing(daemon, authority):
    ca = authority("ca")
    certificate, key = ca.sign("server", "serverAuth")
    running = daemon("--tls-certificate", str(certificate), "--tls-key", str(key), **TLS)

    def connections() -> Iterator[None]:
        while True:
            with contextlib.closing(running.connect(ca.trust())) as connection:
                assert ask(connection, "GET", "/livez")[0] == 200
            yield

    with Load(*(connections() for _ in range(4))) as load:
        load.wait_for_steps(1)
        for _ in range(300):
            assert "has been read again" in running.reload()


def test_the_metrics_tell_when_the_shown_certificate_expires(daemon, tmp_path):
    certificate, key = tmp_path / "shown.crt", tmp_path / "shown.key"

    def show(name: str, days: int) -> str:
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", days,
                "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate)
        return ssl._ssl._test_decode_cert(str(certificate))["notAfter"]

    def expiration() -> float:
        context = ssl.create_default_context(cafile=str(certificate))
        lines = running.ask("GET", "/metrics", context=context)[1].splitlines()
        return next(float(line.split()[1]) for line in lines if line.startswith("arbiter_tls_certificate_expiration"))

    first = show("first", 2)
    running = daemon("--tls-certificate", str(certificate), "--tls-key", str(key), **TLS)
    assert expiration() == ssl.cert_time_to_seconds(first)
    second = show("second", 20)
    running.reload()
    assert expiration() == ssl.cert_time_to_seconds(second) > ssl.cert_time_to_seconds(first)


def test_a_certificate_that_is_wrong_changes_nothing(daemon, authority, tmp_path):
    trusted = authority("a")
    pair = trusted.sign("server", "serverAuth")
    certificate, key = tmp_path / "shown.crt", tmp_path / "shown.key"
    shutil.copy(pair[0], certificate)
    shutil.copy(pair[1], key)
    running = daemon("--tls-certificate", str(certificate), "--tls-key", str(key), **TLS)
    shutil.copy(trusted.sign("other", "serverAuth")[1], key)
    assert "the certificate stays as it was" in running.reload()
    assert running.ask("GET", "/livez", context=trusted.trust())[0] == 200


@pytest.mark.parametrize("options, reason", [
    (["--tls-certificate", "{certificate}", "--tls-key", "{other}"], "are no certificate and its key"),
    (["--tls-certificate", "{certificate}", "--tls-key", "{key}.missing"], "No such file or directory"),
    (["--tls-certificate", "{certificate}"], "give both --tls-certificate and --tls-key"),
    ([], "an address with tls: needs --tls-certificate"),
    (["--tls-certificate", "{certificate}", "--tls-key", "{key}", "--tls-client-ca", "{key}"], "has no certificate"),
])
def test_files_that_are_wrong_keep_it_from_starting(authority, options, reason):
    trusted = authority("a")
    certificate, key = trusted.sign("server", "serverAuth")
    other = trusted.sign("other", "serverAuth")[1]
    options = [option.format(certificate=certificate, key=key, other=other) for option in options]
    for command in ([], ["config", "check"]):
        ended = subprocess.run(
            [os.environ["ARBITERD"], *command, "--listen", "tls:127.0.0.1:0", "--journal", "memory", *options],
            capture_output=True, text=True)
        assert ended.returncode in (64, 78)
        assert reason in ended.stderr
        assert ended.stderr.count("\n") == 1


def test_clients_are_known_by_their_certificates(daemon, authority, tmp_path: Path):
    servers, clients, strangers = authority("servers"), authority("clients"), authority("strangers")
    access = tmp_path / "access.yaml"
    access.write_text("principals:\n  - {name: hmi, certificate: hmi, roles: [observe], scenes: '*'}\n")
    running = daemon(*served(servers), "--tls-client-ca", str(clients.certificate), "--access", str(access), **TLS)

    def status(client: tuple[Path, Path] | None) -> int:
        return running.ask("GET", "/transitions", context=servers.trust(client))[0]

    assert status(clients.sign("hmi", "clientAuth")) == 200
    assert status(clients.sign("other", "clientAuth")) == 401
    assert status(clients.sign("hmi", "serverAuth")) == 401
    assert status(strangers.sign("hmi", "clientAuth")) == 401
    assert status(None) == 401


def test_only_nodes_complete_a_handshake_where_nodes_listen(daemon, authority):
    nodes, other = authority("nodes"), authority("other")
    certificate, key = nodes.sign("node", "serverAuth,clientAuth")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # It listens for nodes before it reaches etcd.
    daemon("--journal", "etcd", "--etcd", "http://127.0.0.1:1", "--peer-listen", f"tls:127.0.0.1:{port}",
           "--peer-certificate", str(certificate), "--peer-key", str(key), "--peer-ca", str(nodes.certificate))

    def livez(*options: object) -> str:
        url = f"https://127.0.0.1:{port}/livez"
        return curl("--cacert", nodes.certificate, *options, "--write-out", "%{http_code}", url).stdout

    def shown(by: Authority, name: str, purpose: str = "clientAuth") -> list[object]:
        certificate, key = by.sign(name, purpose)
        return ["--cert", certificate, "--key", key]

    for version in ["1.2", "1.3"]:
        options = [f"--tlsv{version}", "--tls-max", version]
        assert livez(*options, *shown(nodes, f"second-{version}")) == '{"status":"live"}\n200'
        assert livez(*options) == "000"
        assert livez(*options, *shown(other, f"stranger-{version}")) == "000"
        assert livez(*options, *shown(nodes, f"server-{version}", "serverAuth")) == "000"


def test_a_slow_handshake_loses_its_connection(daemon, authority):
    running = daemon(*served(authority("a")), **TLS)
    silent = plain_socket(running.port)
    assert silent.recv(1) == b""
    silent.close()
