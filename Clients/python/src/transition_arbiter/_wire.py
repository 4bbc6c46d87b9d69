"""What flows ask their driver for. A flow is a generator without input and output of its own, so that clients with and
without `asyncio` share it."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from .errors import Refused

SESSION = "Arbiter-Session"
Document = dict[str, Any]
Result = TypeVar("Result")


@dataclass(frozen=True)
class Send:
    """A request; the driver sends the answer into the flow, or raises `Unreachable` there."""

    method: str
    path: str
    body: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout: float = 30.0
    """How long the driver waits for the answer, in seconds."""


@dataclass(frozen=True)
class Sleep:
    """Time to pass, in seconds."""

    seconds: float


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    content: bytes
    sent: float
    """When its request was sent, by `time.monotonic`: a lease is counted from there."""

    def document(self) -> Document:
        """The body, or the problem that it tells.

        Raises `Refused` for a status of 400 or more.
        """
        try:
            document = json.loads(self.content) if self.content else {}
        except ValueError:
            document = {}
        if self.status >= 400:
            raise Refused(self.status, document if isinstance(document, dict) else {})
        return document if isinstance(document, dict) else {}

    @property
    def retry_after(self) -> float:
        value = self.headers.get("retry-after", "")
        return float(value) if value.isdigit() else 0.0


Flow = Generator[Send | Sleep, Answer, Result]


def backoff() -> Iterator[float]:
    """Delays between attempts in seconds: doubled from 0.1 to 5, each drawn between half and all of it."""
    delay = 0.1
    while True:
        yield random.uniform(delay / 2, delay)
        delay = min(2 * delay, 5.0)


def checked_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The header fields as they are sent.

    Raises `ValueError`, without the value, which may be a secret, for what no request can have: a line break, for example,
    would begin another field.
    """
    checked = {}
    for name, value in headers.items():
        if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name):
            raise ValueError("The name of a header field has other characters than those of a token")
        checked[name] = value.strip(" \t")
        if not re.fullmatch(r"[\t -~]*", checked[name]):
            raise ValueError(f"The header field {name} has other characters than visible ones of ASCII, spaces and tabs")
    return checked
