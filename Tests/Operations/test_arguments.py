"""Programs that are started without arguments, or without their name."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import PATIENCE

# Python's own functions refuse to start a program without arguments.
EXECUTE = """
import ctypes, sys
_, path, *arguments = sys.argv
array = (ctypes.c_char_p * (len(arguments) + 1))(*map(str.encode, arguments), None)
library = ctypes.CDLL(None, use_errno=True)
library.execve(path.encode(), array, ctypes.c_void_p.in_dll(library, "environ"))
sys.exit(f"execve: {ctypes.get_errno()}")
"""


@pytest.mark.parametrize("program", ["arbiterd", "arbiterctl"])
@pytest.mark.parametrize("arguments", [[], [""], ["", "--version"], ["--version"], ["--listen", "127.0.0.1:0"]])
def test_arguments_without_the_name_of_the_program_are_refused(
    tmp_path: Path, program: str, arguments: list[str]
) -> None:
    path = Path(os.environ["ARBITERD"]).with_name(program)
    started = subprocess.run(
        [sys.executable, "-c", EXECUTE, path, *arguments], env={**os.environ, "STATE_DIRECTORY": str(tmp_path)},
        capture_output=True, text=True, timeout=PATIENCE)
    assert started.stderr == f"{program}: the name of the program is missing before its arguments (argv[0])\n"
    assert (started.returncode, started.stdout) == (64, "")  # EX_USAGE
    assert not list(tmp_path.iterdir())
