"""Where the finger of a gesture is."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from ._wire import Document, checked_number


class Finger:
    """Where the finger is: one of its positions is on its way at a time, and the newest waits for that."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._number = 0
        self._next: Document | None = None
        self._last: Document = {}
        self.is_released = False
        """Whether it has left."""

    def move(self, fraction: float, velocity: float | None, sequence: int | None) -> bool:
        """Takes in a position, to be sent: whether it is newer than the last one, and the finger is still there.

        Raises `TypeError` or `ValueError` for what is no number that JSON has.
        """
        checked_number("fraction", fraction)
        if velocity is not None:
            checked_number("velocity", velocity)
        with self._lock:
            number = self._number + 1 if sequence is None else sequence
            if self.is_released or number <= self._number:
                return False
            self._number = number
            self._last = {"fraction": fraction, "velocity": velocity}
            self._next = {**self._last, "sequence": number}
            return True

    @property
    def is_ahead(self) -> bool:
        """Whether its newest position has not been taken."""
        return self._next is not None

    def take(self) -> Document | None:
        """The newest position, if it has not been taken."""
        with self._lock:
            position, self._next = self._next, None
            return position

    def release(self, given: Mapping[str, Any]) -> Document:
        """What the release says: also the newest position, because it may overtake what is on its way."""
        with self._lock:
            self.is_released = True
            return {**self._last, **{name: value for name, value in given.items() if value is not None}}

    def stay(self) -> None:
        """The release was refused: the finger is still there."""
        with self._lock:
            self.is_released = False
