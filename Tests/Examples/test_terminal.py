"""What a person sees and types in a terminal."""

import re
from collections.abc import Callable

import pytest
from conftest import Play, Terminal

# The first line of a view.
BEGUN = {
    "device-farm": r"job-. +runs", "kiosk": r"clock +runs", "silly-transitions": r"presenter +runs",
    "tab-bar": r"runs ", "transition-blocks": r"finger +drags", "transition-lock": r"runs ",
}


@pytest.mark.parametrize("name", BEGUN)
def test_ctrl_c_ends_every_process(begin: Callable[..., Play], terminal: Terminal, name: str) -> None:
    play = begin(name, terminal.slave)
    terminal.read_until(BEGUN[name])
    terminal.type("\x03")
    assert play.wait() == 130


def test_each_view_has_a_colour(begin: Callable[..., Play], terminal: Terminal) -> None:
    play = begin("tab-bar", terminal.slave)
    while terminal.read():
        pass
    assert play.wait() == 0
    colours = dict(re.findall(r"\x1b\[(\d+)m(\w+) .*\x1b\[0m", terminal.text))
    assert set(colours.values()) == {"bar", "left", "right", "middle"}
