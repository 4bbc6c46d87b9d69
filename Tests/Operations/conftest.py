"""What the tests of operating the daemon share: a daemon with its log, and certificates."""

import http.client
import json
import os
import re
import resource
import signal
import socket
import ssl
import subprocess
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from storage_faults import Faults
from waiting import PATIENCE, Events, Lines


class Daemon:
    """A daemon on ports that the system chooses."""

    def __init__(self, directory: Path, *options: str, listen: str = "127.0.0.1:0",
                 environment: dict[str, str] | None = None, before: Callable[[], None] | None = None) -> None:
        self.directory = directory
        # `before` runs in the process that becomes the daemon.
        # The environment is besides that of the tests, and counts from the next start on.
        self.environment = environment or {}
        self._before = before
        self._options = options
        self._listen = listen
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(
            [os.environ["ARBITERD"], "--listen", self._listen, "--data", str(self.directory / "data"), *self._options],
            env={**os.environ, **self.environment}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, preexec_fn=self._before)
        self.log = Lines(self.process.stderr)
        line = self.process.stdout.readline()
        ready = re.fullmatch(r"arbiterd .* ready on ([^;]+)(; .+)?\n", line)
        assert ready, f"the daemon does not get ready: {line} {self.log.all()}"
        self.urls, self.said = ready[1].split(", "), ready[2]
        self.port = int(self.urls[0].rsplit(":", 1)[1])

    def reload(self) -> str:
        """Has it read its certificate again, and returns the line of the log that says whether it has."""
        self.process.send_signal(signal.SIGHUP)
        return self.log.next("the certificate (has been read again|stays as it was)")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE)

    def restart(self) -> None:
        """Starts it again where clients expect it."""
        self._listen = f"127.0.0.1:{self.port}"
        self.start()

    def stop(self) -> None:
        self.process.terminate()
        assert self.process.wait(PATIENCE) == 0, self.log.all()

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

    def follow(self, path: str, headers: dict | None = None, context: ssl.SSLContext | None = None) -> Events:
        """Follows what happens from now on, or with `since` from a number on.

        With `since` of a scene that nobody has used yet, what happens soon may be part of the first reset.
        """
        connection = self.connect(context)
        connection.request("GET", path, headers=headers or {})
        response = connection.getresponse()
        assert response.status == 200
        return Events(response)


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


def arbiterd(*arguments: object) -> subprocess.CompletedProcess:
    """Runs one of its commands."""
    return subprocess.run([os.environ["ARBITERD"], *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE)


@pytest.fixture
def as_many_files_as_allowed() -> Iterator[None]:
    """Lets the tests open more connections than the soft limit, which is often 1,024."""
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limits[1], limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, limits)


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Callable[..., Daemon]]:
    """Starts daemons, which have to end by themselves."""
    daemons: list[Daemon] = []

    def start(*options: str, listen: str = "127.0.0.1:0", directory: Path = tmp_path,
              environment: dict[str, str] | None = None, before: Callable[[], None] | None = None) -> Daemon:
        daemons.append(Daemon(directory, *options, listen=listen, environment=environment, before=before))
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


@pytest.fixture(scope="session")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Compiles what is loaded with LD_PRELOAD, once."""
    directory = tmp_path_factory.mktemp("libraries")

    def compiled(name: str) -> Path:
        library = directory / f"{name}.so"
        if not library.exists():
            source = Path(__file__).with_name(f"{name}.c")
            subprocess.run(
                ["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
        return library

    return compiled


@pytest.fixture
def another_boot(libraries, tmp_path: Path) -> Callable[[Daemon], None]:
    """Has the next starts of a daemon find that the machine has booted since."""

    def boot(running: Daemon) -> None:
        number = tmp_path / "boot"
        number.write_text(f"{uuid.uuid4()}\n")
        running.environment |= {"LD_PRELOAD": str(libraries("another_boot")), "ANOTHER_BOOT": str(number)}

    return boot


@pytest.fixture
def faults(libraries, tmp_path: Path) -> Iterator[Faults]:
    """The faults of a disk, for the daemon that gets their environment."""
    with Faults(libraries("storage_faults"), tmp_path / "data", tmp_path / "faults") as faults:
        yield faults


@pytest.fixture
def authority(tmp_path: Path) -> Callable[[str], Authority]:
    return lambda name: Authority(tmp_path, name)


def plain_socket(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)


class Tool:
    """`arbiterctl` with one daemon."""

    path = str(Path(os.environ["ARBITERD"]).parent / "arbiterctl")

    def __init__(self, daemon: Daemon) -> None:
        self.daemon = daemon
        self.environment = {**os.environ, "ARBITER_URL": f"http://127.0.0.1:{daemon.port}"}

    def begin(self, *arguments: str, before: list[str] = []) -> subprocess.Popen:
        return subprocess.Popen(
            [*before, self.path, *arguments], env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)

    def run(self, *arguments: str, given: str = "", **variables: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [self.path, *arguments], env={**self.environment, **variables}, input=given, capture_output=True, text=True,
            timeout=PATIENCE)


@pytest.fixture
def tool(daemon) -> Tool:
    return Tool(daemon())
