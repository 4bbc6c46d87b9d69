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
        self._changed = asyncio.Condition()

    async def __aenter__(self) -> Self:
        self._read(await self._arbiter._run(self._arbiter._flows.hierarchy(self._scene)))
        self._first = self.snapshot
        self._stream = self._arbiter._stream(Flows.scene_path(self._scene, "/events"), str(self._known))
        self._follower = asyncio.create_task(self._follow(), name=f"hierarchy of {self._scene}")
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
            async with self._changed:
                await self._changed.wait_for(lambda: self._is_over or self.snapshot is not seen)
                if self.snapshot is seen:
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
        async with self._changed:
            self._is_over = True
            self._changed.notify_all()

    async def _note(self, event: Event) -> None:
        try:
            self._take(event)
        except Inapplicable:
            over = self._stream.over
            scene = await self._arbiter._run(self._arbiter._flows.hierarchy_again(self._scene, over.is_set), over)
            if scene is not None:
                self._read(scene)
        async with self._changed:
            self._changed.notify_all()
