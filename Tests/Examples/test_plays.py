"""What each play promises to those who watch it."""

import re
from collections import Counter
from collections.abc import Callable, Iterable

from conftest import Line

Play = Callable[[str], list[str]]


def acts(text: list[str]) -> list[list[Line]]:
    """The lines of each act; an empty line and a sentence are before it."""
    acts: list[list[Line]] = []
    for before, line in zip(["", *text], text):
        if line == "":
            acts.append([])
        elif before != "":
            acts[-1].append(Line.of(line))
    return acts


def words(lines: Iterable[Line], word: str) -> list[Line]:
    return [line for line in lines if line.word == word]


def expect_no_overlap(lines: Iterable[Line]) -> None:
    """Of the processes, one at a time is between `runs` and `ended`."""
    holder = None
    for line in lines:
        match line:
            case Line(name, "runs"):
                assert holder is None, f"{name} runs while {holder} does"
                holder = name
            case Line(name, "ended"):
                assert holder == name
                holder = None
            case Line("kill", "-9", name):
                assert holder == name
                holder = None
    assert holder is None


def is_subsequence(some: Iterable[object], whole: Iterable[object]) -> bool:
    remaining = iter(whole)
    return all(item in remaining for item in some)


def test_transition_lock(play: Play) -> None:
    text = play("transition-lock")
    press, serialize, push, kill = acts(text)
    expect_no_overlap(line for act in (press, serialize, push, kill) for line in act)

    # Every press has run or has been dropped.
    runs, dropped = words(press, "runs"), words(press, "dropped")
    assert Counter(line.name for line in runs + dropped) == {"menu": 5, "alert": 5, "editor": 5}
    assert runs and dropped

    # Nothing is dropped, and who waits runs in the order of the waiting.
    assert Counter((line.name, line.rest) for line in words(serialize, "runs")) == {
        (name, f"block {number}"): 1 for name in ("menu", "alert", "editor") for number in (1, 2)}
    waiting = [line.rest.split(", ")[-1] for line in words(serialize, "waiting")]
    assert is_subsequence(waiting, [line.name for line in words(serialize, "runs")])

    # Each operation is completed once.
    assert len(words(push, "asks")) == 4
    assert len(words(push, "finished") + words(push, "cancelled")) == 4

    # The turn of the killed view passes on.
    assert next(line for line in kill if line.name != "arbiterd") == Line("clumsy", "runs", "for ever")
    assert Counter(line.name for line in words(kill, "runs")) == {"clumsy": 1, "menu": 2, "alert": 2}
    # Its session has ended if a request of it was parked, else its lease.
    assert {Line("arbiterd", "expired", f"clumsy, {reason}") for reason in ("session-lost", "lease")} & set(kill)
    assert words(kill, "waiting")


def test_transition_blocks(play: Play) -> None:
    [lines] = acts(play("transition-blocks"))
    finger = [line for line in lines if line.name == "finger"]
    expect_no_overlap(finger)
    assert [line.rest for line in words(finger, "releases")] == ["0.7, finish", "0.2, cancel", "0.3, finish"]

    # Where the layers are at the fractions 0 and 1 of a push; a pop is the same backward.
    for name, start, end in [("list", 0, -100), ("detail", 320, 0)]:
        gestures: list[list[int]] = [[]]
        outcomes = []
        for line in (line for line in lines if line.name == name):
            if line.word == "draws":
                gestures[-1].append(int(line.rest.split()[-1]))
            else:
                outcomes.append(line.rest)
                gestures.append([])
        assert outcomes == ["completed", "cancelled", "completed"]
        assert gestures.pop() == []
        # It follows the finger, plays the rest, and comes to where the gesture was decided to end.
        assert [drawn[-1] for drawn in gestures] == [end, end, start]
        paths, path = [], []
        for line in finger:
            if line.word == "drags":
                path.append(float(line.rest))
            elif line.word == "releases":
                paths.append(path)
                path = []
        for drawn, path, (first, last) in zip(gestures, paths, [(start, end), (end, start), (end, start)]):
            # The rest are four frames.
            assert drawn[:-4] and is_subsequence(drawn[:-4], [round(first + (last - first) * fraction) for fraction in path])


def test_tab_bar(play: Play) -> None:
    [lines] = acts(play("tab-bar"))
    hands = [line for line in lines if line.name != "bar"]
    bar = [line for line in lines if line.name == "bar"]
    expect_no_overlap(hands)
    taps = Counter((line.name, line.rest) for line in words(hands, "taps"))
    assert taps.total() == 12
    # Every tap has run, or made way for a later one, or found its tab selected.
    results = [line for line in hands if line.word in ("runs", "dropped", "nothing")]
    assert Counter((line.name, re.match(r"\w+", line.rest)[0]) for line in results) == taps
    assert words(hands, "dropped")
    # The last tap wins.
    last = [line for line in bar if line.word in ("waiting", "moving")][-1].rest.split()[-1]
    assert f"[{last}]" in bar[-1].rest
    assert bar[-1].word == "shows"


def test_silly_transitions(play: Play) -> None:
    [lines] = acts(play("silly-transitions"))
    expect_no_overlap(line for line in lines if line.name == "presenter")
    assert [line.rest for line in words(lines, "runs")] == [
        "push by star, forward", "pop by star, backward", "present by drop, forward", "dismiss by drop, backward"]
    # Each but the last has waited for both.
    ready: set[str] = set()
    waited = []
    for line in lines:
        if line.word == "ready":
            ready.add(line.name)
        elif line.word == "runs":
            waited.append(ready)
            ready = set()
    assert waited[:3] == [{"list", "card"}] * 3
    misses = words(lines, "misses")
    assert misses == words(lines[lines.index(words(lines, "runs")[-1]):], "misses")
    assert Line("presenter", "misses", "card, which was not ready in time") in misses
    assert words(lines, "late") == [Line("card", "late", "too-late")]
    # Both draw each by the type that it was asked for.
    for name in ("list", "card"):
        drawn = [line for line in lines if line.name == name and line.word in ("star", "drop")]
        assert [line.word for line in drawn] == ["star"] * 10 + ["drop"] * 10
        assert [line.rest for line in drawn][:10] == ["*" * count for count in (0, 2, 4, 6, 8, 8, 6, 4, 2, 0)]
    assert "wobble" in words(lines, "gives")[0].rest


def test_device_farm(play: Play) -> None:
    jobs, hang, kill, late = acts(play("device-farm"))
    for act in (jobs, kill):
        for device in ("device-1", "device-2"):
            expect_no_overlap(line for line in act if f"on {device}," in line.rest)
    assert Counter(line.name for line in words(jobs, "ended")) == {f"job-{number}": 1 for number in range(1, 6)}
    fences: dict[str, int] = {}
    for line in jobs + hang + kill:
        if found := re.fullmatch(r"on (\S+), fence (\d+)", line.rest):
            assert int(found[2]) >= fences.get(found[1], 0)
            fences[found[1]] = int(found[2])

    assert [line.name for line in words(hang, "runs")] == ["deaf"]
    assert hang[-1] == Line.of("exit code 124")
    assert kill[0] == Line.of("kill -9 arbiterctl")
    assert [line.name for line in words(kill, "runs") + words(kill, "ended")] == ["patient", "patient"]
    [refused] = late
    assert refused[:2] == ("deaf", "refused")
    old, new = map(int, re.findall(r"\d+", refused.rest)[1:])
    assert old < new == fences["device-1"]
