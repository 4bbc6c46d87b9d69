"""The scenes of the demo: a phone with three tabs, and a kitchen display with two columns."""

MAIN = {
    "root": {
        "id": "tabs", "kind": "tabs", "children": [
            {"id": "mail-nav", "kind": "navigation", "children": ["inbox"]},
            {"id": "search-nav", "kind": "navigation", "children": ["field"]},
            {"id": "profile-nav", "kind": "navigation", "children": ["me"]},
        ],
    },
    "transitionTypes": [{"name": "slide", "duration": 0.6}, {"name": "star", "duration": 1}],
}

KITCHEN = {
    "root": {
        "id": "split", "kind": "split",
        "primary": {"id": "orders", "kind": "navigation", "children": ["open-orders"]},
        "secondary": {"id": "order", "kind": "navigation", "children": ["nothing-selected"]},
    },
}

SCENES = {"main": MAIN, "kitchen": KITCHEN}
