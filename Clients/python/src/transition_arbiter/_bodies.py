"""In whose bodies code runs, so that it is told when it would wait for itself."""

from __future__ import annotations

from contextvars import ContextVar

_running: ContextVar[frozenset[str]] = ContextVar("transitions whose bodies run", default=frozenset())
"""The ids of the transitions in whose bodies this thread is, or this task and those that have begun it."""


def running() -> frozenset[str]:
    return _running.get()


def enter(id: str) -> None:
    _running.set(_running.get() | {id})


def leave(id: str) -> None:
    _running.set(_running.get() - {id})
