"""How a client reaches the daemon."""

from __future__ import annotations

import os
import ssl
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx

from ._wire import Answer, Send, json_of
from .errors import Unreachable

URL = "http://127.0.0.1:8080"


@dataclass(frozen=True)
class Address:
    """Where the daemon listens: ``http://…``, ``https://…`` or ``unix:/path``."""

    base: str
    socket: str | None
    shown: str
    """The address for people, without a name and a password."""

    @classmethod
    def of(cls, url: str | None) -> Address:
        """Raises `ValueError` for anything else, without the URL, which may have a password in it."""
        url = url or os.environ.get("ARBITER_URL") or URL
        if url.startswith("unix:"):
            return cls("http://localhost", url.removeprefix("unix:"), url)
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("The URL of a daemon is http://…, https://… or unix:/path")
        return cls(url.rstrip("/"), None, f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}")


def options(address: Address, verify: ssl.SSLContext | bool) -> dict[str, Any]:
    """What both of httpx's transports take: each holder parks a connection, so there is no limit of them."""
    return {
        "uds": address.socket, "verify": verify,
        "limits": httpx.Limits(max_connections=None, max_keepalive_connections=20),
    }


def request(send: Send) -> dict[str, Any]:
    """The arguments of httpx's `request`.

    Raises `TypeError` or `ValueError` for a body that is no JSON.
    """
    headers = dict(send.headers)
    if send.body is not None:
        headers["Content-Type"] = "application/json"
    return {
        "method": send.method, "url": send.path, "headers": headers,
        "content": None if send.body is None else json_of(send.body),
        "timeout": httpx.Timeout(send.timeout, connect=min(send.timeout, 5.0)),
    }


def answer(response: httpx.Response, sent: float) -> Answer:
    """Raises `Unreachable` for what is no answer of a daemon, and `Refused` for one that cannot be read."""
    return Answer.of(response.status_code, response.headers, response.content, sent)


def unreachable(address: Address, send: Send, error: Exception) -> Unreachable:
    """Says which request did not get an answer, from where, and why not."""
    return Unreachable(f"{send.method} {send.path} at {address.shown}: {error or type(error).__name__}")


def stream_timeout(silence: float) -> httpx.Timeout:
    """The time-outs of a stream whose head may take so many seconds."""
    return httpx.Timeout(silence, connect=5.0)


def limit_silence(response: httpx.Response, silence: float) -> None:
    """Has the reading of a response fail when nothing comes for so many seconds."""
    # httpx gives this dictionary to what reads, which looks at it when it begins to.
    response.request.extensions["timeout"]["read"] = silence
