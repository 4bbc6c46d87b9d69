"""What a transition does to the hierarchy, as the `operation` of a request.

A controller is its id, or a node such as ``{"id": "editor", "kind": "view"}``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Controller = str | Mapping[str, Any]
Operation = dict[str, Any]


def present(controller: Controller, *, presenter: str) -> Operation:
    return {"type": "present", "presenter": presenter, "controller": controller}


def dismiss(controller: str) -> Operation:
    return {"type": "dismiss", "controller": controller}


def push(controller: Controller, *, navigation: str) -> Operation:
    return {"type": "push", "navigation": navigation, "controller": controller}


def pop(navigation: str) -> Operation:
    return {"type": "pop", "navigation": navigation}


def pop_to(controller: str, *, navigation: str) -> Operation:
    return {"type": "popTo", "navigation": navigation, "controller": controller}


def pop_to_root(navigation: str) -> Operation:
    return {"type": "popToRoot", "navigation": navigation}


def set_stack(controllers: Sequence[Controller], *, navigation: str) -> Operation:
    return {"type": "setStack", "navigation": navigation, "controllers": list(controllers)}


def select(
    tabs: str, *, index: int | None = None, controller: str | None = None, offset: int | None = None
) -> Operation:
    """Selects a tab by exactly one of its index, its controller, or the offset from the selected one."""
    given = {"index": index, "controller": controller, "offset": offset}
    return {"type": "select", "tabs": tabs, **{name: value for name, value in given.items() if value is not None}}


def segue(identifier: str, *, source: str, destination: Controller | None = None) -> Operation:
    operation: Operation = {"type": "segue", "source": source, "identifier": identifier}
    return operation if destination is None else {**operation, "destination": destination}


def set_root(controller: Controller) -> Operation:
    return {"type": "setRoot", "controller": controller}
