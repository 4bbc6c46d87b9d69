"""What the tests of operating the daemon share: a daemon with its log, and certificates."""

import http.client
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

# How long a test waits for anything, in seconds.
PATIENCE = 30


def eventually(condition: Callable[[], object]) -> bool:
    """Whether a condition holds before long."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return False


class Daemon:
    """A daemon on ports that the system chooses."""

    def __init__(self, directory: Path, *options: str, listen: str = "127.0.0.1:0") -> None:
        self.directory = directory
        self._lines: list[str] = []
        self._options = options
        self._listen = listen
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            [os.environ["ARBITERD"], "--listen", self._listen, "--data", str(self.directory / "data"), *self._options],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        threading.Thread(target=self._read, args=[self.process.stderr], daemon=True).start()
        line = self.process.stdout.readline()
        ready = re.fullmatch(r"arbiterd .* ready on (.+)\n", line)
        assert ready, f"the daemon does not get ready: {line} {self.log}"
        self.urls = ready[1].split(", ")
        self.port = int(self.urls[0].rsplit(":", 1)[1])

    def _read(self, lines) -> None:
        for line in lines:
            self._lines.append(line)

    @property
    def log(self) -> str:
        return "".join(self._lines)

    def reload(self) -> None:
        """Has it read its files again, and waits until it has."""
        before = self.log.count("again") + self.log.count("as it was")
        self.process.send_signal(signal.SIGHUP)
        assert eventually(lambda: self.log.count("again") + self.log.count("as it was") > before)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE)

    def restart(self) -> None:
        """Starts it again where clients expect it."""
        self._listen = f"127.0.0.1:{self.port}"
        self.start()

    def stop(self) -> None:
        self.process.terminate()
        assert self.process.wait(PATIENCE) == 0, self.log

    def connect(self, context: ssl.SSLContext | None = None) -> http.client.HTTPConnection:
        if context:
            return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=PATIENCE, context=context)
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)

    def ask(self, method: str, path: str, body: object = None, headers: dict | None = None,
            context: ssl.SSLContext | None = None) -> tuple[int, object]:
        connection = self.connect(context)
        try:
            return ask(connection, method, path, body, headers)
        finally:
            connection.close()


def ask(connection: http.client.HTTPConnection, method: str, path: str, body: object = None,
        headers: dict | None = None) -> tuple[int, object]:
    headers = dict(headers or {})
    data = None
    if body is not None:
        data = json.dumps(body)
        headers["Content-Type"] = "application/json"
    connection.request(method, path, data, headers)
    response = connection.getresponse()
    text = response.read().decode()
    is_json = "json" in (response.getheader("Content-Type") or "")
    return response.status, json.loads(text) if is_json and text else text


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Callable[..., Daemon]]:
    """Starts daemons, which have to end by themselves."""
    daemons: list[Daemon] = []

    def start(*options: str, listen: str = "127.0.0.1:0") -> Daemon:
        daemons.append(Daemon(tmp_path, *options, listen=listen))
        return daemons[-1]

    yield start
    for each in daemons:
        if each.process.poll() is None:
            each.stop()


class Authority:
    """An authority that signs certificates."""

    def __init__(self, directory: Path, name: str) -> None:
        self.directory = directory
        self.name = name
        self.certificate = directory / f"{name}.crt"
        self.key = directory / f"{name}.key"
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                "-subj", f"/CN={name}", "-keyout", self.key, "-out", self.certificate)

    def sign(self, name: str, purpose: str) -> tuple[Path, Path]:
        """A certificate with its key, for `serverAuth` or `clientAuth`."""
        paths = [self.directory / f"{self.name}-{name}.{kind}" for kind in ("crt", "key", "csr", "ext")]
        certificate, key, request, extensions = paths
        extensions.write_text(f"subjectAltName=IP:127.0.0.1,DNS:localhost\nextendedKeyUsage={purpose}\n")
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", f"/CN={name}",
                "-keyout", key, "-out", request)
        openssl("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self.key, "-CAcreateserial",
                "-days", "2", "-extfile", extensions, "-out", certificate)
        return certificate, key

    def trust(self, client: tuple[Path, Path] | None = None) -> ssl.SSLContext:
        """What a client needs that trusts the authority."""
        context = ssl.create_default_context(cafile=str(self.certificate))
        if client:
            context.load_cert_chain(*map(str, client))
        return context


def openssl(*arguments: object) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


@pytest.fixture
def authority(tmp_path: Path) -> Callable[[str], Authority]:
    return lambda name: Authority(tmp_path, name)


def plain_socket(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
