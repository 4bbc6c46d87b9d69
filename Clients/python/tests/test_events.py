"""What a reader of events gets of a stream that is resumed."""

import threading

import pytest
from transition_arbiter._events import Event, EventStream, Repeats, silence_said_by


def test_what_a_resumed_stream_repeats_is_left_out():
    repeats = Repeats()

    def event(scene, number, name="transition.ended"):
        data = {"scene": scene} if number is None else {"scene": scene, "number": number}
        return repeats.is_new(Event(name, data, None))

    assert [event("a", 1), event("b", 1), event("a", 2)] == [True, True, True]
    # Resumed a little before its end.
    assert [event("a", 2), event("b", 1), event("b", 2), event("a", 3)] == [False, False, True, True]
    # What is momentary has no number.
    assert event("a", None, "transition.progress")
    # A reset counts anew: also a scene that it does not name.
    assert event("a", 1, "reset")
    assert repeats.is_new(Event("reset.end", {"scenes": 1}, "c5"))
    assert [event("a", 1), event("a", 2), event("b", 1)] == [False, True, True]


def test_no_more_scenes_are_remembered_than_there_is_room_for():
    repeats = Repeats()
    for scene in range(Repeats.SCENES + 1):
        assert repeats.is_new(Event("transition.ended", {"scene": str(scene), "number": 1}, None))
    assert repeats.is_new(Event("transition.ended", {"scene": "0", "number": 1}, None))
    assert not repeats.is_new(Event("transition.ended", {"scene": str(Repeats.SCENES), "number": 1}, None))


@pytest.mark.parametrize("text, silence", [
    ("15", 31), ("1.25", 3.5), ("0.5", 3), (None, None), ("", None), ("0", None), ("-1", None), ("nan", None), ("inf", None),
    ("often", None)])
def test_two_comments_may_be_missing(text, silence):
    assert silence_said_by({} if text is None else {"Arbiter-Heartbeat-Seconds": text}) == silence


def test_a_head_may_take_as_long_as_the_last_one_said():
    stream = EventStream("/events", None, False, threading.Event(), 30.0)
    assert stream.head_silence == 45
    assert stream.silence({"Arbiter-Heartbeat-Seconds": "0.5"}) == 3
    assert stream.head_silence == 5
    assert stream.silence({"Arbiter-Heartbeat-Seconds": "15"}) == stream.head_silence == 31
    # A daemon that does not say it.
    assert stream.silence({}) == stream.head_silence == 45
