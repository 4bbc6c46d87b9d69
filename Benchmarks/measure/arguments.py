"""The command line of a run."""

import argparse
from pathlib import Path


def parse_options(program: str, tools: str, results: str) -> argparse.Namespace:
    """The options, of which two are described by what the program does with them."""
    parser = argparse.ArgumentParser(prog=program)
    parser.add_argument("--arbiterd", type=Path, required=True)
    parser.add_argument("--tools", type=Path, required=True, help=tools)
    parser.add_argument("--results", type=Path, required=True, help=results)
    parser.add_argument("--quick", action="store_true")
    return parser.parse_args()
