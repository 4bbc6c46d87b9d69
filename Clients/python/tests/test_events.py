"""What a reader of events gets of a stream that is resumed."""

from transition_arbiter._events import Event, Repeats


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
