"""How a client reaches the daemon."""

from __future__ import annotations

import os
import ssl
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar
from urllib.parse import unquote, urlsplit

import httpx

from ._wire import Answer, Send, json_of
from .errors import Unreachable

URL = "http://127.0.0.1:8080"
Made = TypeVar("Made")


@dataclass(frozen=True)
class Address:
    """Where the daemon listens: ``http://…``, ``https://…`` or ``unix:/path``."""

    base: str
    socket: str | None
    shown: str
    """The address for people, without a name and a password."""
    headers: dict[str, str] = field(default_factory=dict)
    """What the name and the password are sent as."""

    @classmethod
    def of(cls, url: str | None) -> Address:
        """Raises `ValueError` for anything else, without the URL, which may have a password in it."""
        url = url or os.environ.get("ARBITER_URL") or URL
        if url.startswith("unix:"):
            return cls("http://localhost", url.removeprefix("unix:"), url)
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("The URL of a daemon is http://…, https://… or unix:/path")
        user, _, place = parts.netloc.rpartition("@")
        base = f"{parts.scheme}://{place}"
        headers = {"Authorization": f"Basic {b64encode(unquote(user).encode()).decode()}"} if user else {}
        return cls(base + parts.path.rstrip("/"), None, base, headers)


def maker(kind: Callable[..., Made], address: Address, verify: ssl.SSLContext | bool) -> Callable[[], Made]:
    """What makes one connection after the other, of which none reads the certificates that are trusted again."""
    trusted = httpx.create_ssl_context(verify=verify if address.base.startswith("https:") else False)
    limits = httpx.Limits(max_connections=1, max_keepalive_connections=1)
    return lambda: kind(uds=address.socket, verify=trusted, limits=limits)


def request(address: Address, send: Send) -> httpx.Request:
    """A request as it is sent.

    Raises `TypeError` or `ValueError` for a body that is no JSON.
    """
    return _request(
        address, send.method, send.path, send.headers, httpx.Timeout(send.timeout, connect=min(send.timeout, 5.0)),
        None if send.body is None else json_of(send.body))


def stream_request(address: Address, path: str, headers: Mapping[str, str], silence: float) -> httpx.Request:
    """The request for a stream whose head may take so many seconds."""
    return _request(address, "GET", path, headers, httpx.Timeout(silence, connect=5.0))


def _request(
    address: Address, method: str, path: str, headers: Mapping[str, str], timeout: httpx.Timeout, text: str | None = None
) -> httpx.Request:
    fields = {**headers, **address.headers}
    if text is not None:
        fields["Content-Type"] = "application/json"
    # The URL is asked for as it is: httpx's client would look at cookies, redirects and its own address for each request.
    return httpx.Request(method, address.base + path, headers=fields, content=text, extensions={"timeout": timeout.as_dict()})


def answer(response: httpx.Response, sent: float) -> Answer:
    """Raises `Unreachable` for what is no answer of a daemon, and `Refused` for one that cannot be read."""
    return Answer.of(response.status_code, response.headers, response.content, sent)


def unreachable(address: Address, send: Send, error: Exception) -> Unreachable:
    """Says which request did not get an answer, from where, and why not."""
    return Unreachable(f"{send.method} {send.path} at {address.shown}: {error or type(error).__name__}")


def stream_error(address: Address, path: str, error: Exception) -> Unreachable:
    """Says which stream does not come, from where, and why not."""
    return error if isinstance(error, Unreachable) else unreachable(address, Send("GET", path, None, {}, 0), error)


def limit_silence(request: httpx.Request, silence: float) -> None:
    """Has the reading of its response fail when nothing comes for so many seconds."""
    # httpx gives this dictionary to what reads, which looks at it when it begins to.
    request.extensions["timeout"]["read"] = silence
