"""The hierarchy of a scene, and what changes make of it. Nothing is asked here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ._events import Event

Node = Mapping[str, Any]
"""A controller with everything below it, as the daemon shows it: `Controller` of openapi.yaml.

It does not change: what changes becomes another object, and so does each node above it. All others stay the same.
"""

_MEMBERS = ("primary", "supplementary", "secondary", "presented")


class Inapplicable(Exception):
    """A change that this client does not know, or that does not fit its tree. The whole has to be read again."""


@dataclass(frozen=True)
class HierarchySnapshot:
    """A hierarchy as it was at one moment: `root` is `None` while it is empty, and where there is no scene."""

    root: Node | None
    revision: int
    is_current: bool = False
    """Whether its events arrived then, so that nothing newer was known."""

    def controller(self, id: str) -> Node | None:
        """The controller with everything below it, or `None` if there is none of this id."""
        waiting = [self.root] if self.root else []
        while waiting:
            node = waiting.pop()
            if node["id"] == id:
                return node
            waiting += _below(node)
        return None


def snapshot_of(scene: Mapping[str, Any]) -> HierarchySnapshot:
    """The hierarchy in the document of a scene, or in a ``reset``."""
    return HierarchySnapshot(scene.get("hierarchy"), scene["revision"])


def after(snapshot: HierarchySnapshot, event: Event) -> HierarchySnapshot:
    """What an event of the scene makes of its hierarchy; the same object if it does not change it.

    Raises `Inapplicable`.
    """
    match event.name:
        case "reset":
            return snapshot_of(event.data)
        case "scene.deleted":
            return HierarchySnapshot(None, 0)
        case "hierarchy.changed":
            revision, changes = event.data["revision"], event.data.get("changes")
            if changes is None or revision != snapshot.revision + 1:
                raise Inapplicable(f"revision {revision} after {snapshot.revision}")
            return HierarchySnapshot(applied(snapshot.root, changes), revision)
    return snapshot


def applied(root: Node | None, changes: Sequence[Mapping[str, Any]]) -> Node | None:
    """The tree after changes (`HierarchyChange` of openapi.yaml) in their order.

    Raises `Inapplicable`.
    """
    draft = _Draft(root)
    for change in changes:
        try:
            if change["type"] == "replace":
                draft = _Draft(change.get("root"))
            else:
                draft.apply(change)
        except (KeyError, ValueError) as error:
            raise Inapplicable(str(change)) from error
    return draft.root


def _below(node: Node) -> Iterator[Node]:
    yield from node.get("children", ())
    yield from (node[member] for member in _MEMBERS if member in node)


class _Draft:
    """A tree that is being changed: a node is copied before its first change.

    Raises `KeyError` or `ValueError` for a change that does not fit.
    """

    def __init__(self, root: Node | None) -> None:
        self.root = root
        self._nodes: dict[str, Node] = {}
        self._parents: dict[str, str | None] = {}
        self._copies: dict[str, dict[str, Any]] = {}
        """The nodes that may be changed; each one above such a node is one too."""
        if root is not None:
            self._enter(root)

    def apply(self, change: Mapping[str, Any]) -> None:
        match change:
            case {"type": "insert", "controller": node, "place": place}:
                self._enter(node)
                self._attach(node, place)
            case {"type": "remove", "id": id}:
                self._leave(self._detach(id))
            case {"type": "move", "id": id, "place": place}:
                self._attach(self._detach(id), place)
            case {"type": "select", "id": id, "selected": selected}:
                self._copy(id)["selected"] = selected
            case {"type": "arrange", "id": id, "children": children}:
                node = self._copy(id)
                if sorted(children) != sorted(child["id"] for child in node["children"]):
                    raise ValueError("other children")
                node["children"] = [self._nodes[child] for child in children]
                if "selected" in change:
                    node["selected"] = change["selected"]
            case {"type": "collapse" | "expand" as type, "id": id}:
                node = self._copy(id)
                node["collapsed"] = type == "collapse"
                node.pop("pushed", None)
                if "pushed" in change:
                    node["pushed"] = change["pushed"]
            case _:
                raise ValueError("unknown")

    def _enter(self, top: Node) -> None:
        waiting: list[tuple[Node, str | None]] = [(top, None)]
        while waiting:
            node, parent = waiting.pop()
            id = node["id"]
            if id in self._nodes:
                raise ValueError("there already")
            self._nodes[id], self._parents[id] = node, parent
            waiting += [(child, id) for child in _below(node)]

    def _leave(self, top: Node) -> None:
        waiting = [top]
        while waiting:
            node = waiting.pop()
            del self._nodes[node["id"]], self._parents[node["id"]]
            self._copies.pop(node["id"], None)
            waiting += _below(node)

    def _attach(self, node: Node, place: Mapping[str, Any]) -> None:
        match place:
            case {"type": "root"} if self.root is None:
                self.root = node
            case {"type": "top" | "tab", "parent": parent}:
                self._copy(parent)["children"].append(node)
            case {"type": "presented" | "primary" | "supplementary" | "secondary" as member, "parent": parent} \
                    if member not in self._nodes[parent]:
                self._copy(parent)[member] = node
            case _:
                raise ValueError("an unknown place, or one that is taken")
        self._parents[node["id"]] = place.get("parent")

    def _detach(self, id: str) -> Node:
        node = self._nodes[id]
        self._exchange(node, None)
        return node

    def _copy(self, id: str) -> dict[str, Any]:
        """The node as one that may be changed."""
        lineage = []
        above: str | None = id
        while above is not None and above not in self._copies:
            lineage.append(above)
            above = self._parents[above]
        for each in reversed(lineage):
            node = dict(self._nodes[each])
            if "children" in node:
                node["children"] = list(node["children"])
            self._exchange(self._nodes[each], node)
            self._nodes[each] = self._copies[each] = node
        return self._copies[id]

    def _exchange(self, old: Node, new: Node | None) -> None:
        """Puts a node, or nothing, where another one is."""
        parent = self._parents[old["id"]]
        if parent is None:
            self.root = new
            return
        holder = self._copy(parent)
        for member in _MEMBERS:
            if holder.get(member) is old:
                holder[member] = new
                if new is None:
                    del holder[member]
                return
        children = holder["children"]
        # From the end, because the top of a stack comes and goes most often.
        index = next(index for index in reversed(range(len(children))) if children[index] is old)
        children[index:index + 1] = [] if new is None else [new]


class KeptHierarchy:
    """The part of a `Hierarchy` that needs neither threads nor `asyncio`."""

    def __init__(self) -> None:
        self.snapshot = HierarchySnapshot(None, 0)
        """The hierarchy as it is: its tree, and the revision of the tree."""
        self._first = self.snapshot
        self._is_open = False
        """Whether its stream is open."""
        self._known = 0
        """The number of the last event that the last reading includes."""
        self._is_over = False
        self._error: Exception | None = None
        """Why it is kept no longer, if it is not because nobody needs it."""

    @property
    def root(self) -> Node | None:
        """The tree; `None` while it is empty, and while there is no such scene."""
        return self.snapshot.root

    @property
    def revision(self) -> int:
        """The revision of the tree."""
        return self.snapshot.revision

    @property
    def is_current(self) -> bool:
        """Whether its events arrive: while the daemon is gone, or something keeps them back, it may be an old one."""
        return self._is_open

    def controller(self, id: str) -> Node | None:
        """The controller with everything below it, or `None` if there is none of this id."""
        return self.snapshot.controller(id)

    def _show(self, snapshot: HierarchySnapshot) -> None:
        self.snapshot = replace(snapshot, is_current=self._is_open)

    def _note_stream(self, is_open: bool) -> None:
        """Takes notice that its stream has opened, or was cut."""
        if is_open != self._is_open:
            self._is_open = is_open
            self._show(self.snapshot)

    def _read(self, scene: Mapping[str, Any]) -> None:
        """Takes the document of the whole scene."""
        snapshot, self._known = snapshot_of(scene), scene["lastEvent"]
        if snapshot.root is not None or (None, snapshot.revision) != (self.root, self.revision):
            self._show(snapshot)

    def _take(self, event: Event) -> None:
        """Takes the next event. Raises `Inapplicable` if the whole has to be read again."""
        if event.name == "reset":
            self._read(event.data)
        elif event.data.get("number", 0) > self._known:
            snapshot = after(self.snapshot, event)
            if snapshot is not self.snapshot:
                self._show(snapshot)
