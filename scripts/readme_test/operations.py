"""Finds what has been forgotten of an operation outside of the daemon: in the clients, the page, the documentation and the rules' tests.

What the core and the shell have of it, the compiler and the unit tests find. The tests of the clients for Python and JavaScript make
every example of openapi.yaml; the members that the client for Swift writes are looked up here.
"""

import re
from pathlib import Path

CORE = "Sources/ArbiterCore/Hierarchy/Operation.swift"
DESCRIPTION = "openapi.yaml"
SWIFT_CLIENT = "Sources/ArbiterClient/TransitionOptions.swift"
PAGE = "Sources/ArbiterHTTP/Page/operations.js"
# What each file has of an operation; in those with a star, one file of several has it.
PLACES = {
    "Clients/python/src/transition_arbiter/operations.py": '"type": "{type}"',
    "Clients/javascript/client.js": r"^  {type}: .*=> \(\{{ type: '{type}'",
    "Clients/javascript/client.d.ts": r"^  {type}\(.*\): Operation;",
    SWIFT_CLIENT: '"type": "{type}"',
    PAGE: r"^  {type}: \{{$",
    "docs/hierarchy.md": r"^The operations are[^.]*`{type}`",
    "Tests/ArbiterCoreTests/Hierarchy/*.swift": r"operation: \.{type}\(",
}


def types_of(core: str) -> list[str]:
    enum = re.search(r"enum OperationType\b.*?\{(.*?)\n\}", core, re.DOTALL)
    return re.findall(r"^ +case (\w+)$", enum[1], re.MULTILINE)


def members_of(type_name: str, description: str) -> set[str]:
    """The members of an operation of this type, as openapi.yaml has them; none if it has no such operation."""
    schema = re.search(rf"^    {type_name[0].upper()}{type_name[1:]}Operation:\n((?:      .*\n|\n)+)", description, re.MULTILINE)
    properties = schema and re.search(r"^      properties:\n((?:        .*\n)+)", schema[1], re.MULTILINE)
    return set(re.findall(r"^        (\w+):$", properties[1], re.MULTILINE)) if properties else set()


def missing_members(type_name: str, members: set[str], client: str) -> set[str]:
    """The members that no function of the client for Swift writes."""
    functions = [body for body in client.split("public static func") if f'"type": "{type_name}"' in body]
    return {member for member in members if functions and not any(f'"{member}"' in body for body in functions)}


def forgotten(core: str, description: str, places: dict[str, str]) -> list[str]:
    """What is missing, one line each. The places are the texts of `PLACES`, by their paths."""
    found = []
    for type_name in types_of(core):
        found += [f"{path}: there is no operation {type_name}" for path, pattern in PLACES.items()
                  if not re.search(pattern.format(type=type_name), places[path], re.MULTILINE)]
        members = members_of(type_name, description)
        if not members:
            found.append(f"{DESCRIPTION}: there is no operation {type_name}")
        found += [f"{SWIFT_CLIENT}: the operation {type_name} has no {member}"
                  for member in sorted(missing_members(type_name, members, places[SWIFT_CLIENT]))]
    labels = re.search(r"const LABELS = \{(.*?)\};", places[PAGE], re.DOTALL)[1]
    for operands in re.findall(r"operands: \[(.*?)\]", places[PAGE]):
        found += [f"{PAGE}: there is no label for {operand}" for operand in re.findall(r"\w+", operands)
                  if not re.search(rf"\b{operand}:", labels)]
    return found


def check_operations(root: Path) -> list[str]:
    def text(path: str) -> str:
        return "\n".join(each.read_text(encoding="utf-8") for each in sorted(root.glob(path)))

    return forgotten(text(CORE), text(DESCRIPTION), {path: text(path) for path in PLACES})
