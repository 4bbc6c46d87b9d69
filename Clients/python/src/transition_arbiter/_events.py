"""Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Event:
    """Something that happened.

    `name` is for example ``transition.ended``, and `data` its document. `id` is what a stream is resumed after; it is
    `None` for what is momentary, such as ``transition.progress``. After a gap that the daemon cannot fill, the first event
    is a ``reset`` with the scene as it is.
    """

    name: str
    data: dict[str, Any]
    id: str | None


class EventParser:
    """Makes events out of the lines of a stream."""

    def __init__(self) -> None:
        self._name = ""
        self._data: list[str] = []
        self._id: str | None = None

    def take(self, line: str) -> Event | None:
        """The event that the line completes, if it does."""
        if not line:
            event = None
            if self._data:
                event = Event(self._name or "message", json.loads("\n".join(self._data)), self._id)
            self._name, self._data, self._id = "", [], None
            return event
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        match field:
            case "event":
                self._name = value
            case "data":
                self._data.append(value)
            case "id":
                self._id = value
        return None
