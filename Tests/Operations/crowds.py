"""Clients by the thousand, as cheap as they can be: requests one behind the other on one connection, and readers that do not read."""

import json
import socket
from collections.abc import Iterable, Iterator


class Pipeline:
    """A connection on which many requests are under way at once."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=120)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._answers = self._socket.makefile("rb", 1 << 20)

    def ask(self, requests: Iterable[tuple[str, str, object]]) -> list[tuple[int, object]]:
        """Sends requests, and then reads their answers: the status, and the body if it is an object."""
        texts = [self._text(*request) for request in requests]
        self._socket.sendall(b"".join(texts))
        return [self._answer() for _ in texts]

    @staticmethod
    def _text(method: str, path: str, body: object) -> bytes:
        data = json.dumps(body).encode()
        return (f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(data)}\r\n\r\n").encode() + data

    def _answer(self) -> tuple[int, object]:
        status = int(self._answers.readline().split()[1])
        length, is_chunked = 0, False
        while (line := self._answers.readline()) not in (b"\r\n", b""):
            name, _, value = line.lower().partition(b":")
            if name == b"content-length":
                length = int(value)
            is_chunked |= name == b"transfer-encoding"
        return status, json.loads(b"".join(self._chunks()) if is_chunked else self._answers.read(length))

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self._answers.readline().split(b";")[0], 16):
            yield self._answers.read(size)
            self._answers.readline()
        self._answers.readline()

    def close(self) -> None:
        self._answers.close()
        self._socket.close()


def run_transitions(pipeline: Pipeline, count: int, scenes: list[str], text: str) -> int:
    """Starts and ends transitions in all of these scenes, again and again; returns how many have ended."""
    ended = 0
    while ended < count:
        starts = pipeline.ask(
            ("POST", "/transitions/start", {"scene": scene, "animation": {"userInfo": {"text": text}}}) for scene in scenes)
        begun = [answer for status, answer in starts if status == 201]
        assert begun, starts[0]
        pipeline.ask(("POST", "/transitions/end", {"id": each["id"], "token": each["token"]}) for each in begun)
        ended += len(begun)
    return ended


def unread(port: int, path: str) -> socket.socket:
    """A client that asks, and reads nothing."""
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    client.settimeout(10)
    client.connect(("127.0.0.1", port))
    client.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    return client
