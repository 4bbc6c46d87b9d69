"""Finds the names in Markdown pages that the tree does not have.

A name is what stands between back quotes and looks like one: a path of the repository, a target of make, an option of a
program, `Type.member`, or a word with capitals inside. Code blocks are not looked at; scripts/readme-test runs those.
"""

import re
import subprocess
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

# Where a path may begin, besides the top of the tree.
FOLDERS = ("Sources", "Tests", "Benchmarks", "docs")
# What is named in pages only: names of others, and examples of names that there could be.
OTHERS = {
    "--endpoints", "--now", "--prefix", "--trusted-ca-file", "MemoryMax", "OperationType.allCases", "extendedKeyUsage", "memberID", "memfd_create",
    "Type+Aspect.swift", "_lockSlow", "asDecided", "embedInCode", "others.md", "quick_check", "replaceTop", "summary.md", "table.md",
}


@dataclass(frozen=True)
class Missing:
    page: str
    line: int
    name: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}: there is no `{self.name}`"


@dataclass
class Tree:
    """What the files of the repository have."""

    paths: set[str] = field(default_factory=set)
    words: set[str] = field(default_factory=set)
    options: set[str] = field(default_factory=set)
    targets: set[str] = field(default_factory=set)
    # The words of the files that declare a type or extend it.
    members: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def add(self, path: str, text: str) -> None:
        """Adds a file; pages are not looked at for names, or each would vouch for the others."""
        parts = path.split("/")
        self.paths |= {"/".join(parts[:count]) for count in range(1, len(parts) + 1)}
        self.words |= set(re.findall(r"\w+", path))
        if path.endswith(".md"):
            return
        words = set(re.findall(r"\w+", text))
        self.words |= words
        self.options |= set(re.findall(r"--[a-z][a-z-]*[a-z]", text))
        # The programs derive options from the names of properties.
        for name in re.findall(r"@(?:Option|Flag)\b.*?\bvar (\w+)", text, re.DOTALL):
            self.options.add("--" + re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower())
        if path.endswith("Makefile"):
            self.targets |= {name for names in re.findall(r"^([a-z][a-z %-]*):", text, re.MULTILINE) for name in names.split()}
        for name in set(re.findall(r"\b(?:class|struct|enum|actor|protocol|extension|typealias)\s+([A-Z][\w.]*)", text)):
            self.members[name.split(".")[-1]] |= words

    def has_path(self, path: str) -> bool:
        pattern = re.escape(path.rstrip("/")).replace("…", "[^/]*")
        return any(re.fullmatch(f"(?:(?:{'|'.join(FOLDERS)})/)?{pattern}", known) for known in self.paths)

    def has_file(self, name: str) -> bool:
        pattern = re.escape(name).replace("…", "[^/]*")
        return any(re.fullmatch(f"(?:.*/)?{pattern}", known) for known in self.paths)

    @property
    def tops(self) -> set[str]:
        """With what a path may begin."""
        split = [path.split("/") for path in self.paths]
        return {parts[0] for parts in split} | {parts[1] for parts in split if parts[0] in FOLDERS and len(parts) > 1}


def read_tree(root: Path) -> Tree:
    tree = Tree()
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    for path in listed.splitlines():
        # The tests of this file name what there is not.
        if not (root / path).is_file() or path.startswith("scripts/readme_test/"):
            continue
        try:
            tree.add(path, (root / path).read_text(encoding="utf-8"))
        except UnicodeDecodeError:
            tree.add(path, "")
    return tree


def quoted(text: str) -> list[tuple[int, str]]:
    """What stands between back quotes, each with its line."""
    # Blocks of code become empty lines, and the rest is read as paragraphs, because a name may begin on one line and end on the next.
    text = re.sub(r"^[ \t]*(```|~~~).*?^[ \t]*\1[^\n]*$", lambda block: "\n" * block[0].count("\n"), text, flags=re.DOTALL | re.MULTILINE)
    return [(text.count("\n", 0, found.start()) + 1, " ".join(found[1].split()))
            for found in re.finditer(r"(?<!`)`((?:[^`\n]|\n(?!\s*\n))+)`(?!`)", text)]


def is_replaced(text: str) -> bool:
    """Whether a page is a decision that no longer holds, and whose names may be gone."""
    return re.search(r"^\*Replaced by ", text, re.MULTILINE) is not None


def missing_names(name: str, tree: Tree) -> list[str]:
    """The parts of what is quoted that the tree lacks."""
    if re.match(r"make [a-z]", name):
        return [name] if name.split()[1] not in tree.targets else []
    if re.fullmatch(r"[\w…+-][\w…+/-]*\.(swift|py|c|h|js|mjs|ts|yaml|md|pml)", name):
        return [] if name in OTHERS or tree.has_file(name) else [name]
    if re.fullmatch(r"[\w.…+-]+/[\w./…+-]*", name) and name.split("/")[0] in tree.tops:
        return [] if tree.has_path(name) else [name]
    lacking = [option for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*[a-z](?!…)(?![\w…-])", name)
               if option not in tree.options and option not in OTHERS]
    # What goes on with … is the beginning of a name.
    for word in re.findall(r"[A-Za-z_]\w*(?:\.\w+)*(?![\w…])", name):
        if word in OTHERS:
            continue
        parts = word.split(".")
        for owner, member in zip(parts, parts[1:]):
            if owner in tree.members and member not in tree.members[owner]:
                lacking.append(f"{owner}.{member}")
        lacking += [part for part in parts if is_identifier(part) and part not in tree.words and part not in OTHERS]
    return lacking


def is_identifier(word: str) -> bool:
    """Whether it has the form of an identifier in code, and not of a word."""
    return re.search(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]|[a-z]_[a-z]", word) is not None


def check(pages: list[Path], root: Path) -> list[Missing]:
    tree = read_tree(root)
    found: list[Missing] = []
    for page in pages:
        text = page.read_text(encoding="utf-8")
        if is_replaced(text):
            continue
        shown = str(page.relative_to(root))
        found += [Missing(shown, line, lacking) for line, name in quoted(text) for lacking in missing_names(name, tree)]
    return found


def missing_calls(page: str, description: str) -> list[str]:
    """The calls of openapi.yaml that a page does not name."""
    paths = description[description.index("\npaths:") :]
    calls, path = [], ""
    for line in paths.splitlines():
        if found := re.match(r"  (/\S*):$", line):
            path = found[1]
        elif found := re.match(r"    (get|put|post|patch|delete):$", line):
            calls.append((found[1].upper(), path))
    return [f"{method} {path}" for method, path in calls
            if not re.search(rf"`(?:{method} )?{re.escape(path)}[`?]", page)]
