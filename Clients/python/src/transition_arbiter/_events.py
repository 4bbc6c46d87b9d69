"""Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from ._wire import MARGIN, SESSION, backoff, checked_headers, read_json


@dataclass(frozen=True)
class Event:
    """Something that happened.

    `name` is for example ``transition.ended``, and `data` its document. `id` is what a stream is resumed after; it is
    `None` for what is momentary, such as ``transition.progress``, and for all events of `Arbiter.events` from a cluster of
    several shards, where the place in the stream comes apart. After a gap that the daemon cannot fill, the first event
    is a ``reset`` with the scene as it is.
    """

    name: str
    data: dict[str, Any]
    id: str | None


class EventParser:
    """Makes events out of the bytes of one connection."""

    def __init__(self, last_id: str | None = None) -> None:
        self.last_id = last_id
        """The last id so far. A stream of all scenes begins with one that has no event."""
        self._rest = b""
        self._name = ""
        self._data: list[str] = []
        self._id: str | None = None

    def take(self, chunk: bytes) -> Iterator[Event]:
        """The events that the bytes complete."""
        # Only a line feed ends a line here; what else `splitlines` would split at may be part of the data.
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            if event := self._take_line(line.decode(errors="replace")):
                yield event

    def _take_line(self, line: str) -> Event | None:
        if not line:
            self.last_id = self._id or self.last_id
            event = None
            if self._data:
                name = self._name or "message"
                event = Event(name, read_json("\n".join(self._data), f"The event {name}"), self._id)
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


class Repeats:
    """What a resumed stream repeats.

    Where a cluster has several shards, the stream of all scenes is resumed at a place that may be a second old, so that events
    come again; a scene's event is the same if its number is.
    """

    SCENES = 10_000
    """How many scenes are remembered."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        """The number of the last event of each scene; the scene that was used last is the last one."""
        self._named: set[str] = set()

    def is_new(self, event: Event) -> bool:
        """Whether the event was not there before."""
        if event.name == "reset.end":
            # Another life of the daemon may count from the beginning.
            self._numbers = {scene: number for scene, number in self._numbers.items() if scene in self._named}
            self._named.clear()
            return True
        scene, number = event.data.get("scene", ""), event.data.get("number")
        if number is None:
            return True
        if event.name == "reset":
            self._named.add(scene)
        elif self._numbers.get(scene, -1) >= number:
            return False
        self._numbers.pop(scene, None)
        self._numbers[scene] = number
        if len(self._numbers) > self.SCENES:
            del self._numbers[next(iter(self._numbers))]
        return True


# The field in which a daemon says how often something comes on a stream of events at least, in seconds.
HEARTBEAT = "Arbiter-Heartbeat-Seconds"
# For how long a stream may be silent if its daemon does not say that, in seconds.
STREAM_SILENCE = 45.0
# The shortest silence after which a stream is taken for dead, in seconds.
SHORTEST_SILENCE = 3.0
# What two comments may take longer than the daemon says, in seconds.
HEARTBEAT_MARGIN = 1.0
# What no daemon says, in seconds.
LONGEST_HEARTBEAT = 3600.0


def silence_said_by(headers: Mapping[str, str]) -> float | None:
    """After how many seconds of silence a stream is taken for dead, because two comments are missing.

    `None` if the head of the answer says none.
    """
    try:
        seconds = float(headers.get(HEARTBEAT, ""))
    except ValueError:
        return None
    if not 0 < seconds <= LONGEST_HEARTBEAT:
        return None
    return max(SHORTEST_SILENCE, 2 * seconds + HEARTBEAT_MARGIN)


class Flag(Protocol):
    """`threading.Event` or `asyncio.Event`; they differ in how one waits for them."""

    def is_set(self) -> bool: ...

    def set(self) -> None: ...


Over = TypeVar("Over", bound=Flag)


class EventStream(Generic[Over]):
    """The place of a reader in a stream, which is resumed there when it is cut.

    Raises `ValueError` if `since` cannot be an id.
    """

    def __init__(self, path: str, since: str | None, attached: bool, over: Over) -> None:
        self.path = path
        self.attached = attached
        self.over = over
        """Set when it is not to be resumed any more."""
        self._parser = EventParser(None if since is None else checked_headers({"Last-Event-ID": since})["Last-Event-ID"])
        self._delays = backoff()
        self._repeats = Repeats()
        self._said: float | None = None

    def headers(self, session: str | None) -> dict[str, str]:
        """What the next connection begins with."""
        self._parser = EventParser(self._parser.last_id)
        own = {"Accept": "text/event-stream", "Last-Event-ID": self._parser.last_id, SESSION: session}
        return {name: value for name, value in own.items() if value is not None}

    @property
    def head_silence(self) -> float:
        """How many seconds the head of the next answer may take.

        A daemon that is there sends it about as soon as a comment would come.
        """
        return STREAM_SILENCE if self._said is None else max(self._said, MARGIN)

    def silence(self, headers: Mapping[str, str]) -> float:
        """For how many seconds a stream with this head may be silent."""
        self._said = silence_said_by(headers)
        return STREAM_SILENCE if self._said is None else self._said

    def take(self, chunk: bytes) -> Iterator[Event]:
        """The events that the bytes complete."""
        for event in self._parser.take(chunk):
            self._delays = backoff()
            if self._repeats.is_new(event):
                yield event

    def delay(self) -> float:
        """The seconds until the next attempt."""
        return next(self._delays)
