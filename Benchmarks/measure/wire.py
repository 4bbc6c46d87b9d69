"""HTTP over a bare socket, on which many requests are on their way at once."""

import json
import socket
from collections.abc import Sequence
from typing import Self

# Longer than any answer that is waited for.
PATIENCE_SECONDS = 120
# Requests that are sent before the first of them is answered.
REQUESTS_AT_ONCE = 64


class ConnectionEnded(Exception):
    """The daemon has closed the connection where an answer was expected."""


def request(method: str, path: str, body: object = None, fields: dict[str, str] | None = None) -> bytes:
    """A request as it is sent; `body` is sent as JSON."""
    content = b"" if body is None else json.dumps(body).encode()
    head = [f"{method} {path} HTTP/1.1", "Host: localhost"]
    head += [f"{name}: {value}" for name, value in (fields or {}).items()]
    if body is not None:
        head += ["Content-Type: application/json", f"Content-Length: {len(content)}"]
    return "\r\n".join([*head, "", ""]).encode() + content


class Answer:
    def __init__(self, status: int, content: bytes) -> None:
        self.status = status
        self.content = content

    @property
    def document(self) -> dict:
        return json.loads(self.content)


class Wire:
    """A connection to the daemon."""

    def __init__(self, port: int, receive_bytes: int | None = None) -> None:
        self.socket = socket.socket()
        self.socket.settimeout(PATIENCE_SECONDS)
        if receive_bytes is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        self.socket.connect(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._input = self.socket.makefile("rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._input.close()
        self.socket.close()

    def send(self, sent: bytes) -> None:
        self.socket.sendall(sent)

    def ask(self, sent: bytes) -> Answer:
        self.send(sent)
        return self.read()

    def ask_all(self, requests: Sequence[bytes]) -> list[Answer]:
        """The answers, in the order of the requests."""
        answers = []
        for first in range(0, len(requests), REQUESTS_AT_ONCE):
            some = requests[first:first + REQUESTS_AT_ONCE]
            self.send(b"".join(some))
            answers += [self.read() for _ in some]
        return answers

    def read(self) -> Answer:
        line = self._input.readline()
        if not line:
            raise ConnectionEnded("the connection has ended before an answer")
        status = int(line.split()[1])
        length, is_chunked = 0, False
        while (field := self._input.readline().strip().lower()):
            if field.startswith(b"content-length:"):
                length = int(field.partition(b":")[2])
            is_chunked |= field.startswith(b"transfer-encoding:") and b"chunked" in field
        return Answer(status, self._read_chunks() if is_chunked else self._input.read(length))

    def _read_chunks(self) -> bytes:
        chunks = []
        while (size := int(self._input.readline(), 16)):
            chunks.append(self._input.read(size))
            self._input.readline()
        self._input.readline()
        return b"".join(chunks)
