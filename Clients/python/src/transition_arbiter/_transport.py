"""How a client reaches the daemon."""

from __future__ import annotations

import os
import ssl
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx

from ._wire import Answer, Send

URL = "http://127.0.0.1:8080"


@dataclass(frozen=True)
class Address:
    """Where the daemon listens: ``http://…``, ``https://…`` or ``unix:/path``."""

    base: str
    socket: str | None

    @classmethod
    def of(cls, url: str | None) -> Address:
        """Raises `ValueError` for anything else, without the URL, which may have a password in it."""
        url = url or os.environ.get("ARBITER_URL") or URL
        if url.startswith("unix:"):
            return cls("http://localhost", url.removeprefix("unix:"))
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("The URL of a daemon is http://…, https://… or unix:/path")
        return cls(url.rstrip("/"), None)


def options(address: Address, verify: ssl.SSLContext | bool) -> dict[str, Any]:
    """What both of httpx's transports take: each holder parks a connection, so there is no limit of them."""
    return {
        "uds": address.socket, "verify": verify,
        "limits": httpx.Limits(max_connections=None, max_keepalive_connections=20),
    }


def request(send: Send) -> dict[str, Any]:
    """The arguments of httpx's `request`."""
    return {
        "method": send.method, "url": send.path, "json": send.body, "headers": dict(send.headers),
        "timeout": httpx.Timeout(send.timeout, connect=min(send.timeout, 5.0)),
    }


def answer(response: httpx.Response, sent: float) -> Answer:
    """Raises `Unreachable` for what is no answer of a daemon."""
    return Answer.of(response.status_code, response.headers, response.content, sent)


# A comment comes every 15 seconds; after three of them are missing the stream is taken for dead.
STREAM_TIMEOUT = httpx.Timeout(45.0, connect=5.0)
