"""Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from ._wire import MARGIN, SESSION, backoff, checked_headers, now, read_json
from .errors import Unreachable


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
                event = Event(name, _data("\n".join(self._data), name), self._id)
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


def _data(text: str, name: str) -> Any:
    try:
        return read_json(text, f"The event {name}")
    except ValueError:
        raise Unreachable(f"the event {name} is no JSON") from None


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

    def __init__(self, path: str, since: str | None, attached: bool, over: Over, patience: float) -> None:
        self.path = path
        self.attached = attached
        self.over = over
        """Set when it is not to be resumed any more."""
        self.when_open: Callable[[bool], None] = lambda is_open: None
        """Called when the stream has opened, and when it was cut."""
        self.when_unheard: Callable[[Unreachable, float, float], None] = lambda error, began, deadline: None
        """Called when an attempt failed before it has opened: why, when the first attempt began, and when the last one does."""
        self._patience = patience
        self._deadline: float | None = None
        """Until when it has to open for the first time; `None` before the first attempt, and once it has."""
        self._has_opened = self._is_open = False
        self._parser = EventParser(None if since is None else checked_headers({"Last-Event-ID": since})["Last-Event-ID"])
        self._delays = backoff()
        self._repeats = Repeats()
        self._said: float | None = None

    def begin(self) -> None:
        """The next attempt begins."""
        if self._deadline is None and not self._has_opened:
            self._deadline = now() + self._patience

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
        if self._deadline is not None:
            return max(SHORTEST_SILENCE, min(STREAM_SILENCE, self._deadline - now()))
        return STREAM_SILENCE if self._said is None else max(self._said, MARGIN)

    @staticmethod
    def check(headers: Mapping[str, str]) -> None:
        """Raises `Unreachable` for the head of another answer, such as a page of a proxy."""
        if not headers.get("content-type", "").startswith("text/event-stream"):
            raise Unreachable("the answer is no stream of events")

    def silence(self, headers: Mapping[str, str]) -> float:
        """For how many seconds a stream with this head may be silent."""
        self._said = silence_said_by(headers)
        return STREAM_SILENCE if self._said is None else self._said

    def take(self, chunk: bytes) -> Iterator[Event]:
        """The events that the bytes complete. With the first ones the stream is open: a proxy may pass a head on, and keep the rest."""
        if not self._is_open:
            self._is_open, self._has_opened, self._deadline = True, True, None
            self.when_open(True)
        for event in self._parser.take(chunk):
            self._delays = backoff()
            if self._repeats.is_new(event):
                yield event

    def cut(self, error: Unreachable | None = None) -> None:
        """It was cut, or refused for now, and is asked for again.

        Raises `Unreachable` if it has never opened, and its patience is over.
        """
        if self.over.is_set():
            return
        if self._is_open:
            self._is_open = False
            self.when_open(False)
        if self._deadline is None:
            return
        why = error or f"GET {self.path} is not answered by a stream"
        never = Unreachable(f"{why}; the stream has never opened")
        if now() >= self._deadline:
            raise never
        self.when_unheard(never, self._deadline - self._patience, self._deadline)

    def delay(self) -> float:
        """The seconds until the next attempt. The last one is made when the patience is over."""
        delay = next(self._delays)
        return delay if self._deadline is None else min(delay, max(0.0, self._deadline - now()))
