"""What flows ask their driver for. A flow is a generator without input and output of its own, so that clients with and
without `asyncio` share it."""

from __future__ import annotations

import json
import math
import random
import re
import sys
import time
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from .errors import Refused, Unreachable

SESSION = "Arbiter-Session"
# What an answer may take besides the wait, in seconds.
MARGIN = 5.0
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
    """What the daemon answers."""

    status: int
    body: Document
    """The document, or the problem."""
    retry_after: float
    """The seconds that the daemon asks to wait before the next attempt; 0 if it does not say."""
    sent: float
    """When its request was sent, by `now`: a lease is counted from there."""
    next: str | None = None
    """The address of the next page of a list; `None` on the last one."""

    @classmethod
    def of(cls, status: int, headers: Mapping[str, str], content: bytes, sent: float) -> Answer:
        """Raises `Unreachable` for what is no answer of a daemon, but for example of a proxy whose daemon is gone.

        Raises `Refused` for one that cannot be read.
        """
        retry_after = headers.get("retry-after", "")
        next = re.match(r'<([^>]*)>; rel="next"', headers.get("link", ""))
        return cls(
            status, _body(status, content), float(retry_after) if retry_after.isdigit() else 0.0, sent, next and next[1])

    def document(self) -> Document:
        """The document.

        Raises `Refused` if it is a problem.
        """
        if self.status >= 400:
            raise Refused(self.status, self.body)
        return self.body

    @property
    def decides(self) -> bool:
        """Whether the daemon says what it knows; not if it refuses to say so now, or a proxy answers in its place."""
        is_problem = self.status < 500 and self.status != 429 and isinstance(self.body.get("code"), str)
        return self.status < 400 or is_problem

    @property
    def passes(self) -> bool:
        """Whether it refuses something that may be accepted later, or that may have happened.

        So does every 503 that this client does not know. A queue that is full is the caller's to handle.
        """
        if self.status == 503:
            # A node of an earlier version may be there for long.
            return not self.is_out_of_room and self.body.get("code") != "older-rules"
        return self.status == 429 and self.body.get("code") == "too-many-requests"

    @property
    def is_out_of_room(self) -> bool:
        """Whether there is no room for anything new, which may last."""
        return self.status == 503 and self.body.get("code") == "out-of-room"


def read_json(text: str | bytes, name: str) -> Any:
    """What JSON says; `name` is what it is, for an error.

    Raises `ValueError` for what is no JSON, and `Refused` for what has too many levels, however often it is asked for.
    """
    try:
        return json.loads(text)
    except RecursionError:
        detail = f"{name} has more levels of objects and arrays than Python reads"
        raise Refused(400, {"code": "too-deep", "detail": detail}) from None


def _body(status: int, content: bytes) -> Document:
    try:
        document = read_json(content, "The answer")
    except ValueError:
        document = None
    # A proxy says these itself, also in JSON. The daemon gives each problem a code.
    may_be_of_proxy = status == 404 or status >= 500
    if isinstance(document, dict) and (not may_be_of_proxy or isinstance(document.get("code"), str)):
        return document
    # The daemon refuses in HTML what is no HTTP.
    if status == 204 or (content and 400 <= status < 500 and not may_be_of_proxy):
        return {}
    raise Unreachable(f"an answer of status {status} is not one of the daemon")


def checked_seconds(name: str, value: object) -> None:
    """Raises `TypeError` for what is no number, and `ValueError` for a number that is no duration."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} is a number of seconds, not {type(value).__name__}")
    if value < 0 or not _is_finite(value):
        raise ValueError(f"{name} is a finite number of seconds, 0 or more")


def checked_number(name: str, value: object) -> None:
    """Raises `TypeError` for what is no number, and `ValueError` for one that JSON does not have."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} is a number, not {type(value).__name__}")
    if not _is_finite(value):
        raise ValueError(f"{name} is a finite number")


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False  # An integer that is larger than any other number.


def checked_id(name: str, value: object) -> str:
    """Raises `TypeError` for what is no text, and `ValueError` for an empty one, which would be another path."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is a text, not {type(value).__name__}")
    if not value:
        raise ValueError(f"{name} is empty")
    return value


def json_of(body: Mapping[str, Any]) -> str:
    """Raises `TypeError` for what is no JSON, and `ValueError` for a number that JSON does not have."""
    return json.dumps(body, allow_nan=False)


def now() -> float:
    """Seconds on a clock that does not jump, and that goes on while the machine is suspended, where the system has one."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if sys.platform == "linux" else time.monotonic()


Flow = Generator[Send | Sleep, Answer, Result]


def backoff(longest: float = 5.0) -> Iterator[float]:
    """Delays between attempts in seconds: doubled from 0.1 to the longest, each drawn between half and all of it."""
    delay = 0.1
    while True:
        yield random.uniform(delay / 2, delay)
        delay = min(2 * delay, longest)


def checked_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The header fields as they are sent.

    Raises `ValueError`, without the value, which may be a secret, for what no request can have: a line break, for example,
    would begin another field.
    """
    checked = {}
    for name, value in headers.items():
        if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name):
            raise ValueError("The name of a header field has other characters than those of a token")
        if not isinstance(value, str):
            raise TypeError(f"The header field {name} is a text, not {type(value).__name__}")
        checked[name] = value.strip(" \t")
        if not re.fullmatch(r"[\t -~]*", checked[name]):
            raise ValueError(f"The header field {name} has other characters than visible ones of ASCII, spaces and tabs")
    return checked
