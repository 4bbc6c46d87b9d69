"""Compares what a command has printed with what a Markdown page says that it prints.

Ids, tokens and timestamps differ from run to run. They are compared by their form, and by where they come again: what
the page shows twice must be the same twice. All other text must be equal. In the page, `…` stands for anything: for
further characters in a line or string, for further members of an object, or for further elements of an array. An object
that ends with `…` may have further members anywhere, between those that the page shows too. A line of JSON may end with
`…` anywhere.
"""

import json
import re

VARYING = {
    "id": r"\b[gst]-[0-9a-z]{13}\b",
    "token": r"\b[0-9a-f]{32}\b",
    "time": r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z",
}
# Splits a text of the page into `…`, what varies, and what must be equal.
PIECE = re.compile("|".join(["(?P<any>…)"] + [f"(?P<{kind}>{pattern})" for kind, pattern in VARYING.items()]))
# Members that tell how much is left: what the page shows is the most they can be.
COUNTED_DOWN = {"leaseRemaining", "ticketRemaining", "queueRemaining", "readyRemaining"}
# Members that tell how long something has lasted: what the page shows is the least they can be.
COUNTED_UP = {"idleFor"}
# Lines that may come at any time: an event stream's signs of life, and bash's notice of a job that was killed.
PASSING = re.compile(r": keep-alive$|bash: line \d+: +\d+ Killed ")
GAP = object()


class Mismatch(Exception):
    """Says in what the output differs from the page."""


class Comparison:
    """Compares the outputs of one page, and remembers which actual id, token or time each of the page stands for."""

    def __init__(self) -> None:
        self._actual: dict[str, str] = {}
        self._expected: dict[str, str] = {}

    def check(self, expected: list[str], actual: list[str]) -> None:
        """Raises Mismatch unless the lines are what the page says; empty lines don't count."""
        expected, actual = relevant(expected), relevant(actual)
        for wanted, got in zip(expected, actual):
            self._check_line(wanted, got)
        if len(actual) < len(expected):
            raise Mismatch(f"this line is missing: {expected[len(actual)]}")
        if len(actual) > len(expected):
            raise Mismatch(f"the page does not show this line: {actual[len(expected)]}")

    def _check_line(self, expected: str, actual: str) -> None:
        data = "data: "
        if expected.startswith(data) and actual.startswith(data):
            expected, actual = expected.removeprefix(data), actual.removeprefix(data)
        if expected[:1] not in ("{", "["):
            self._check_text(expected, actual, "the line")
            return
        try:
            value = json.loads(actual, object_pairs_hook=Members)
        except ValueError:
            raise Mismatch(f"this line is not JSON: {actual}") from None
        self._check_value(parse_shortened(expected), value, "the answer")

    def _check_value(self, expected: object, actual: object, place: str) -> None:
        if expected is GAP:
            return
        if type(expected) is not type(actual) and not (is_number(expected) and is_number(actual)):
            raise Mismatch(f"{place} is {shown(actual)} instead of {shown(expected)}")
        if isinstance(expected, Members):
            self._check_members(expected, actual, place)
        elif isinstance(expected, list):
            self._check_elements(expected, actual, place)
        elif isinstance(expected, str):
            self._check_text(expected, actual, place)
        elif expected != actual:
            raise Mismatch(f"{place} is {shown(actual)} instead of {shown(expected)}")

    def _check_members(self, expected: "Members", actual: "Members", place: str) -> None:
        """Members come in the page's order; others may stand where it says `…`, and anywhere if that is at its end."""
        rest = list(actual)
        is_open = bool(expected) and expected[-1] == ("…", GAP)
        may_skip = is_open
        for name, value in expected:
            if value is GAP and name == "…":
                may_skip = True
                continue
            while may_skip and rest and rest[0][0] != name:
                rest.pop(0)
            if not rest or rest[0][0] != name:
                found = f'"{rest[0][0]}"' if rest else "nothing more"
                raise Mismatch(f'{place} has {found} where "{name}" is expected')
            got = rest.pop(0)[1]
            if name in COUNTED_DOWN and is_number(value) and is_number(got):
                if not 0 <= got <= value:
                    raise Mismatch(f'"{name}" of {place} is {got}, not between 0 and {value}')
            elif name in COUNTED_UP and is_number(value) and is_number(got):
                if got < value:
                    raise Mismatch(f'"{name}" of {place} is {got}, less than {value}')
            else:
                self._check_value(value, got, f'"{name}" of {place}')
            may_skip = is_open
        if rest and not may_skip:
            raise Mismatch(f'{place} has the member "{rest[0][0]}", which the page does not show')

    def _check_elements(self, expected: list, actual: list, place: str) -> None:
        """`…` can only be the last element."""
        is_open = bool(expected) and expected[-1] is GAP
        wanted = expected[:-1] if is_open else expected
        if len(actual) < len(wanted) or (len(actual) > len(wanted) and not is_open):
            raise Mismatch(f"{place} has {len(actual)} elements instead of {len(wanted)}")
        for index, (value, got) in enumerate(zip(wanted, actual)):
            self._check_value(value, got, f"element {index} of {place}")

    def _check_text(self, expected: str, actual: str, place: str) -> None:
        pattern, varying, end = "", [], 0
        for piece in PIECE.finditer(expected):
            pattern += re.escape(expected[end : piece.start()])
            pattern += ".*?" if piece.lastgroup == "any" else f"({VARYING[piece.lastgroup]})"
            if piece.lastgroup != "any":
                varying.append((piece.lastgroup, piece.group()))
            end = piece.end()
        found = re.fullmatch(pattern + re.escape(expected[end:]), actual, re.DOTALL)
        if not found:
            raise Mismatch(f"{place} is {shown(actual)} instead of {shown(expected)}")
        for (kind, wanted), got in zip(varying, found.groups()):
            self._check_same(kind, wanted, got, place)

    def _check_same(self, kind: str, expected: str, actual: str, place: str) -> None:
        """Two different times of the page may be the same in a fast run; ids and tokens may not."""
        if self._actual.setdefault(expected, actual) != actual:
            raise Mismatch(f"{place} is {actual}, but {expected} has been {self._actual[expected]} before")
        if kind != "time" and self._expected.setdefault(actual, expected) != expected:
            raise Mismatch(f"{place} is {actual}, which the page has called {self._expected[actual]}, not {expected}")


class Members(list):
    """The members of a JSON object in their order, each a pair of name and value."""


def parse_shortened(text: str) -> object:
    """Reads JSON in which `…` may stand for members, elements, a value, or everything from there on."""
    json_text, open_brackets, position = "", [], 0
    for token in re.finditer(r'"(?:[^"\\]|\\.)*"|[{}\[\]]|…', text):
        json_text += text[position : token.start()]
        position = token.end()
        piece = token.group()
        if piece in "{[":
            open_brackets.append("}" if piece == "{" else "]")
        elif piece in "}]" and open_brackets:
            open_brackets.pop()
        elif piece == "…":
            is_member = open_brackets[-1:] == ["}"] and not json_text.endswith(":")
            piece = '"…":"…"' if is_member else '"…"'
        json_text += piece
    json_text += text[position:]
    if text.endswith("…"):
        json_text += "".join(reversed(open_brackets))
    try:
        return with_gaps(json.loads(json_text, object_pairs_hook=Members))
    except ValueError as error:
        raise Mismatch(f"the page's line is neither JSON nor shortened JSON: {error}") from None


def with_gaps(value: object) -> object:
    """Puts GAP where a whole value is `…`."""
    if isinstance(value, Members):
        return Members((name, with_gaps(member)) for name, member in value)
    if isinstance(value, list):
        return [with_gaps(element) for element in value]
    return GAP if value == "…" else value


def relevant(lines: list[str]) -> list[str]:
    return [line for line in lines if line.strip() and not PASSING.match(line)]


def is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def shown(value: object) -> str:
    if isinstance(value, Members):
        return "an object"
    if isinstance(value, list):
        return "an array"
    return json.dumps(value, ensure_ascii=False) if not isinstance(value, str) else f'"{value}"'
