"""The hierarchy of a scene for programs without `asyncio`."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Self

from ._events import Event
from ._flows import Flows
from ._hierarchy import HierarchySnapshot, Inapplicable, KeptHierarchy
from ._wire import MARGIN
from .errors import Closed

if TYPE_CHECKING:
    from ._sync import Arbiter


class Hierarchy(KeptHierarchy):
    """The hierarchy of a scene, kept by its events inside of a `with` statement. Threads may share it.

    It is read once, at the beginning of the statement, which raises `Refused` or `Unreachable`: also if its events do not begin to
    arrive within the patience of the client. A scene that does not exist is empty.
    """

    def __init__(self, arbiter: Arbiter, scene: str) -> None:
        super().__init__()
        self._arbiter = arbiter
        self._scene = scene
        self._changed = threading.Condition()

    def __enter__(self) -> Self:
        self._read(self._arbiter._run(self._arbiter._flows.hierarchy(self._scene)))
        self._stream = self._arbiter._stream(Flows.scene_path(self._scene, "/events"), str(self._known))
        self._stream.when_open = self._note_stream
        self._follower = threading.Thread(target=self._follow, name=f"hierarchy of {self._scene}", daemon=True)
        self._follower.start()
        try:
            with self._changed:
                self._changed.wait_for(lambda: self._is_over or self._is_open)
                self._first = self.snapshot
                if not self._is_open:
                    raise self._error or Closed("The client has been closed")
            return self
        except BaseException:
            self._stream.end()
            raise

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._arbiter._flows.is_forked and kind is not None:
            return  # Its parent goes on.
        self._arbiter._flows.check_process()
        self._stream.end()
        self._follower.join(MARGIN)

    def changes(self) -> Iterator[HierarchySnapshot]:
        """The hierarchy after each change since the beginning of the `with` statement, until its end.

        It changes too when it begins or ceases to be current. If several changes came since the last step, only the newest
        hierarchy is shown. Raises `Refused` if the daemon does not let it be followed any more.
        """
        seen = self._first
        while True:
            self._arbiter._flows.check_process()
            with self._changed:
                self._changed.wait_for(lambda: self._is_over or self.snapshot is not seen)
                if self._is_over:
                    break
                seen = self.snapshot
            yield seen
        if self._error is not None:
            raise self._error

    def _follow(self) -> None:
        try:
            for event in self._arbiter._events(self._stream):
                self._note(event)
        except Closed:
            pass
        except Exception as error:
            self._error = error
        with self._changed:
            self._is_over, self._is_open = True, False
            self._changed.notify_all()

    def _note_stream(self, is_open: bool) -> None:
        with self._changed:
            super()._note_stream(is_open)
            self._changed.notify_all()

    def _note(self, event: Event) -> None:
        try:
            self._take(event)
        except Inapplicable:
            self._note_stream(False)  # Until it has been read again.
            over = self._stream.over
            scene = self._arbiter._run(self._arbiter._flows.hierarchy_again(self._scene, over.is_set), over)
            if scene is not None:
                self._read(scene)
                self._note_stream(True)
        with self._changed:
            self._changed.notify_all()
