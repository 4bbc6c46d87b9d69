"""A profile of callgrind: how often each instruction of a thread was executed, what it missed, and which function called which.

The form of the file is described in callgrind's manual; it was written with --dump-instr=yes.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

LINE = 64
PAGE = 4096


@dataclass(frozen=True)
class Function:
    # The path of the program or library.
    object: str
    # Its symbol, which is mangled.
    name: str

    def is_in(self, library: str) -> bool:
        return Path(self.object).name.startswith(library)


@dataclass(frozen=True)
class Call:
    caller: Function
    callee: Function


@dataclass
class Profile:
    # By function and address in its object.
    executed: Counter[tuple[Function, int]] = field(default_factory=Counter)
    # Misses in the first cache of instructions.
    missed: Counter[tuple[Function, int]] = field(default_factory=Counter)
    calls: Counter[Call] = field(default_factory=Counter)
    # The instructions of the callee and of what it has called.
    inclusive: Counter[Call] = field(default_factory=Counter)

    def __add__(self, other: "Profile") -> "Profile":
        return Profile(self.executed + other.executed, self.missed + other.missed, self.calls + other.calls,
                       self.inclusive + other.inclusive)

    @property
    def instructions(self) -> int:
        return self.executed.total()

    def blocks(self, size: int, least: float) -> set[tuple[str, int]]:
        """The blocks of code with an instruction that was executed so often, by object and number.

        Functions at one address, such as those of one name, are one instruction.
        """
        executed: Counter[tuple[str, int]] = Counter()
        for (function, address), count in self.executed.items():
            executed[function.object, address] += count
        return {(name, address // size) for (name, address), count in executed.items() if count >= least}

    def functions(self, least: float) -> dict[Function, set[int]]:
        """The functions with an instruction that was executed so often, each with its lines of code of which that is true."""
        found: dict[Function, set[int]] = defaultdict(set)
        for (function, address), count in self.executed.items():
            if count >= least:
                found[function].add(address // LINE)
        return found

    def calls_of(self, names: Iterable[str]) -> int:
        """How often functions of these names were called by others."""
        names = set(names)
        return sum(count for call, count in self.calls.items() if call.callee.name in names and call.caller.name not in names)


def read(path: Path) -> Profile:
    return _Reader().read(path)


class _Reader:
    def __init__(self) -> None:
        self._profile = Profile()
        self._names: dict[tuple[str, str], str] = {}

    def read(self, path: Path) -> Profile:
        costs = missed = 0
        positions = 1
        object_name = called_object = ""
        function = callee = Function("", "")
        address = 0
        # How often a function was called; its cost is in the next line.
        called = None
        with path.open(errors="replace") as file:
            for line in file:
                line = line.rstrip("\n")
                if not line:
                    continue
                if line[0] in "0123456789+-*":
                    parts = line.split()
                    address = _address(parts[0], address)
                    values = parts[positions:]
                    executed = int(values[costs]) if len(values) > costs else 0
                    if called is not None:
                        call = Call(function, callee)
                        self._profile.calls[call] += called
                        self._profile.inclusive[call] += executed
                        called, called_object = None, object_name
                        continue
                    self._profile.executed[function, address] += executed
                    if missed and len(values) > missed:
                        self._profile.missed[function, address] += int(values[missed])
                elif line.startswith("fn="):
                    function = Function(object_name, self._function(line[3:]))
                    called_object = object_name
                elif line.startswith("cfn="):
                    callee = Function(called_object, self._function(line[4:]))
                elif line.startswith("calls="):
                    called = int(line[6:].split()[0])
                elif line.startswith("ob="):
                    object_name = called_object = self._name("object", line[3:])
                elif line.startswith("cob="):
                    called_object = self._name("object", line[4:])
                elif line.startswith("positions:"):
                    positions = len(line.split()) - 1
                elif line.startswith("events:"):
                    events = line.split()[1:]
                    costs = events.index("Ir")
                    missed = events.index("I1mr") if "I1mr" in events else 0
        return self._profile

    def _function(self, text: str) -> str:
        # callgrind numbers the depths of a recursion, and the C library its versions.
        return self._name("function", text).split("'")[0].split("@@")[0]

    def _name(self, kind: str, text: str) -> str:
        """A name that is written out once, with a number that stands for it from then on."""
        match = re.match(r"\((\d+)\)(?: (.*))?$", text)
        if match is None:
            return text
        number, name = match.groups()
        if name is not None:
            self._names[kind, number] = name
        return self._names[kind, number]


def _address(text: str, before: int) -> int:
    if text == "*":
        return before
    if text[0] in "+-":
        return before + int(text, 0)
    return int(text, 0)
