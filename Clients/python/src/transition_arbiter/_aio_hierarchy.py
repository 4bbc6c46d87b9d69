"""The hierarchy of a scene for programs with `asyncio`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import TYPE_CHECKING, Self

from ._events import Event
from ._flows import Flows
from ._hierarchy import HierarchySnapshot, Inapplicable, KeptHierarchy
from .errors import Closed

if TYPE_CHECKING:
    from ._aio import AsyncArbiter


class AsyncHierarchy(KeptHierarchy):
    """The same as `Hierarchy`, inside of an `async with` statement."""

    def __init__(self, arbiter: AsyncArbiter, scene: str) -> None:
        super().__init__()
        self._arbiter = arbiter
        self._scene = scene
        self._changed = asyncio.Event()
        """Set at the next change; then there is another one."""

    async def __aenter__(self) -> Self:
        self._read(await self._arbiter._run(self._arbiter._flows.hierarchy(self._scene)))
        self._stream = self._arbiter._stream(Flows.scene_path(self._scene, "/events"), str(self._known))
        self._stream.when_open = self._note_stream
        self._follower = asyncio.create_task(self._follow(), name=f"hierarchy of {self._scene}")
        try:
            while not (self._is_over or self._is_open):
                await self._changed.wait()
        except BaseException:
            self._follower.cancel()
            raise
        self._first = self.snapshot
        if not self._is_open:
            raise self._error or Closed("The client has been closed")
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._arbiter._flows.is_forked and kind is not None:
            return  # Its parent goes on.
        self._arbiter._check_loop()
        self._stream.over.set()
        self._follower.cancel()
        await asyncio.wait([self._follower])

    async def changes(self) -> AsyncIterator[HierarchySnapshot]:
        """See `Hierarchy.changes`."""
        seen = self._first
        while True:
            self._arbiter._check_loop()
            while self.snapshot is seen and not self._is_over:
                await self._changed.wait()
            if self._is_over:
                break
            seen = self.snapshot
            yield seen
        if self._error is not None:
            raise self._error

    async def _follow(self) -> None:
        try:
            async with aclosing(self._arbiter._events(self._stream)) as events:
                async for event in events:
                    await self._note(event)
        except (Closed, asyncio.CancelledError):
            pass
        except Exception as error:
            self._error = error
        self._is_over, self._is_open = True, False
        self._tell()

    def _note_stream(self, is_open: bool) -> None:
        super()._note_stream(is_open)
        self._tell()

    def _tell(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def _note(self, event: Event) -> None:
        try:
            self._take(event)
        except Inapplicable:
            self._note_stream(False)  # Until it has been read again.
            over = self._stream.over
            scene = await self._arbiter._run(self._arbiter._flows.hierarchy_again(self._scene, over.is_set), over)
            if scene is not None:
                self._read(scene)
                self._note_stream(True)
        self._tell()
