"""What the views in Python share."""

import os
import sys


def say(name: str, text: str) -> None:
    """Writes a line at once, so that the lines of several processes stand in their order."""
    colour, plain = os.environ.get("VIEW_COLOUR", ""), os.environ.get("VIEW_PLAIN", "")
    sys.stdout.write(f"{colour}{name:<10}{text}{plain}\n")
    sys.stdout.flush()
