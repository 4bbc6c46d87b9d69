"""What a transition does to the hierarchy, as the `operation` of a request; docs/hierarchy.md describes each.

A controller that comes is its id, or a node such as ``{"id": "editor", "kind": "view"}``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

Controller = str | Mapping[str, Any]
SplitColumn = Literal["primary", "supplementary", "secondary"]
Operation = dict[str, Any]


def present(controller: Controller, *, presenter: str | None = None) -> Operation:
    """Presents a controller, modally; without a presenter, over the controller in front."""
    operation: Operation = {"type": "present", "controller": controller}
    return operation if presenter is None else {**operation, "presenter": presenter}


def dismiss(controller: str) -> Operation:
    """Dismisses what a controller presents, or the layer that it is in."""
    return {"type": "dismiss", "controller": controller}


def push(controller: Controller, *, navigation: str) -> Operation:
    """Pushes a controller onto the stack of a navigation."""
    return {"type": "push", "navigation": navigation, "controller": controller}


def pop(navigation: str) -> Operation:
    """Pops the top of the stack of a navigation; nothing at its root."""
    return {"type": "pop", "navigation": navigation}


def pop_to(controller: str, *, navigation: str) -> Operation:
    """Pops until a controller of the stack is at its top."""
    return {"type": "popTo", "navigation": navigation, "controller": controller}


def pop_to_root(navigation: str) -> Operation:
    """Pops until the root is at the top of the stack."""
    return {"type": "popToRoot", "navigation": navigation}


def set_stack(controllers: Sequence[Controller], *, navigation: str) -> Operation:
    """Replaces the stack of a navigation."""
    return {"type": "setStack", "navigation": navigation, "controllers": list(controllers)}


def select(
    tabs: str, *, index: int | None = None, controller: str | None = None, offset: int | None = None
) -> Operation:
    """Selects a tab by exactly one of its index, its controller, or the offset from the selected one."""
    given = {"index": index, "controller": controller, "offset": offset}
    return {"type": "select", "tabs": tabs, **{name: value for name, value in given.items() if value is not None}}


def show_detail(controller: Controller, *, split: str) -> Operation:
    """Shows a controller as the detail of a split."""
    return {"type": "showDetail", "split": split, "controller": controller}


def set_column(column: SplitColumn, controller: Controller | None, *, split: str) -> Operation:
    """Replaces a column of a split; `None` empties it."""
    return {"type": "setColumn", "split": split, "column": column, "controller": controller}


def show_column(column: SplitColumn, *, split: str) -> Operation:
    """Shows a column of a collapsed split."""
    return {"type": "showColumn", "split": split, "column": column}


def collapse(split: str, *, top_column: SplitColumn | None = None) -> Operation:
    """Collapses a split, so that only its primary column is shown; the columns up to the top one go onto its stack."""
    return {"type": "collapse", "split": split, **({} if top_column is None else {"topColumn": top_column})}


def expand(split: str) -> Operation:
    """Expands a split that is collapsed."""
    return {"type": "expand", "split": split}


def set_tabs(tabs: str, controllers: Sequence[Controller], *, selected: int | None = None) -> Operation:
    """Replaces the tabs; `selected` is the index of the one that is selected then."""
    operation: Operation = {"type": "setTabs", "tabs": tabs, "controllers": list(controllers)}
    return operation if selected is None else {**operation, "selected": selected}


def segue(identifier: str, *, source: str, destination: Controller | None = None) -> Operation:
    """Performs a segue of the storyboard; `destination` stands in for the declared one."""
    operation: Operation = {"type": "segue", "source": source, "identifier": identifier}
    return operation if destination is None else {**operation, "destination": destination}


def insert_tab(controller: Controller, *, tabs: str, index: int | None = None) -> Operation:
    """Inserts a tab, without an index as the last one."""
    operation: Operation = {"type": "insertTab", "tabs": tabs, "controller": controller}
    return operation if index is None else {**operation, "index": index}


def remove_tab(controller: str, *, tabs: str) -> Operation:
    """Removes a tab."""
    return {"type": "removeTab", "tabs": tabs, "controller": controller}


def set_root(controller: Controller) -> Operation:
    """Replaces the whole hierarchy."""
    return {"type": "setRoot", "controller": controller}
