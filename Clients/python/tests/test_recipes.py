"""The recipes of docs/recipes.md run as they are written."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

RECIPES = (Path(__file__).resolve().parents[3] / "docs" / "recipes.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^## (?P<name>.+?)$.*?^```python\n(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
FOUND = [(block["name"], block["code"]) for block in BLOCK.finditer(RECIPES)]
SAID = {
    "An endless ticker": "the page is idle: True\nall of it is not: True\n",
    "An emergency": "the alarm is shown\n",
    "A double tap": "the mail opens\nthe second tap is superseded\n",
    "Another top": "the stack: list receipt\n",
    "One sheet for another": "in front: route\n",
    "The newest route wins": "home is cancelled because it was interrupted\n",
    "A window that becomes narrow": "wide again: boxes letters letter\n",
    "A deep link": "drawn once: tabs inbox message\n",
    "Unsaved changes": "the editor stays: not saved\nthe editor goes\n",
    "A queue of alerts": "mail is shown\npresented: True\n",
    "A wall of displays": "all of them change, and nobody is late: True\n",
    "A device farm": "30 tests, each alone on its device: True\n",
    "Screenshots": "two are taken, and a transition may start: False\nnow it runs\n",
    "A rotation ends a swipe": "the rotation is drawn, over editor\n",
}


def test_every_recipe_is_known():
    assert {name for name, _ in FOUND} == set(SAID)


@pytest.mark.parametrize(("name", "code"), FOUND, ids=[name for name, _ in FOUND])
def test_a_recipe_does_what_it_says(name, code, daemon):
    environment = {**os.environ, "ARBITER_URL": daemon().url, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, SAID[name], "")
