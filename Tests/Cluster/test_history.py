"""Tests of the checker, with histories in which something is wrong."""

import unittest

from history import (UNFINISHED, Call, Checker, Events, Follower, Register, Session, Transition, admitted_without_room,
                     believed_until, carried_out, shard_of, unheard)


def call(kind: str, id: str, state: str | None, sent: float, answered: float, *, fence: int | None = None,
         lease: float = 10, outcome: str | None = None, asks: str | None = None, status: int = 200,
         key: str | None = None, code: str | None = None, is_repeated: bool = False, **others) -> Call:
    seen = Transition(id, state, fence=fence, lease=lease, outcome=outcome, **others) if state else None
    return Call(kind, "main", sent, answered, status, code, seen, None if key and state else id, key, asks,
                is_repeated)


def granted(id: str, sent: float, answered: float, fence: int, **others) -> Call:
    return call("start", id, "running", sent, answered, fence=fence, key=f"key-{id}", **others)


def ended(id: str, sent: float, answered: float, asks: str = "completed", **others) -> Call:
    return call("end", id, "ended", sent, answered, outcome=others.pop("outcome", asks), asks=asks, **others)


class CheckerTests(unittest.TestCase):
    def expect(self, calls: list[Call], *texts: str) -> None:
        found = Checker(calls).violations()
        self.assertEqual(len(found), len(texts), found)
        for violation, text in zip(found, texts):
            self.assertIn(text, violation)

    def test_nothing_is_found_where_holders_follow_one_another(self):
        self.expect([granted("a", 0, 1, 1), ended("a", 2, 3), granted("b", 2, 4, 2), ended("b", 5, 6)])

    def test_two_holders_at_once(self):
        self.expect([granted("a", 0, 1, 1), granted("b", 2, 3, 2), ended("a", 4, 5), ended("b", 6, 7)],
                    "a () and b () were held at once")

    def test_a_lease_that_has_run_out_by_the_count_of_its_owner_holds_nothing(self):
        self.expect([granted("a", 0, 1, 1, lease=2), granted("b", 2.5, 3, 2)])

    def test_a_renewal_keeps_a_holder_alone(self):
        self.expect([granted("a", 0, 1, 1, lease=2), call("renew", "a", "running", 1.5, 1.6, lease=2, fence=1),
                     granted("b", 2.5, 3, 2)], "held at once")

    def test_an_unanswered_renewal_keeps_nobody(self):
        renewal = Call("renew", "main", 1.5, 1.6, None, id="a")
        self.expect([granted("a", 0, 1, 1, lease=2), renewal, granted("b", 2.5, 3, 2)])

    def test_a_long_holder_and_one_after_a_short_one(self):
        self.expect([granted("a", 0, 1, 1), granted("b", 1, 2, 2), ended("b", 2.5, 3), granted("c", 3, 4, 3)],
                    "a () and b ()", "a () and c ()")

    def test_the_line_is_kept(self):
        first = call("serialize", "a", "queued", 0, 1, key="key-a")
        second = call("serialize", "b", "queued", 2, 3, key="key-b")
        self.expect([first, second, call("await", "b", "running", 4, 5, fence=1), ended("b", 6, 7),
                     call("await", "a", "running", 4, 8, fence=2), ended("a", 9, 10)],
                    "b was granted before a")

    def test_who_gave_up_lets_others_pass(self):
        first = call("serialize", "a", "queued", 0, 1, key="key-a")
        second = call("serialize", "b", "queued", 2, 3, key="key-b")
        self.expect([first, second, ended("a", 3, 3.5, "cancelled"), call("await", "b", "running", 4, 5, fence=1)])

    def test_a_fence_is_given_once(self):
        self.expect([granted("a", 0, 1, 1), ended("a", 2, 3), granted("b", 4, 5, 1)], "same fence 1")

    def test_fences_grow(self):
        self.expect([granted("a", 0, 1, 5), ended("a", 2, 3), granted("b", 4, 5, 4)],
                    "b was granted before a", "b got fence 4 in main after a got 5")

    def test_an_acknowledged_end_is_not_lost(self):
        self.expect([granted("a", 0, 1, 1), ended("a", 2, 3), call("look", "a", "running", 4, 5, fence=1)],
                    "a in main is running again")

    def test_a_read_that_was_sent_before_the_end_was_answered_may_show_it_or_not(self):
        self.expect([granted("a", 0, 1, 1), ended("a", 2, 3), call("look", "a", "running", 2.5, 5, fence=1)])

    def test_an_acknowledged_end_keeps_its_outcome(self):
        self.expect([granted("a", 0, 1, 1), ended("a", 2, 3),
                     call("look", "a", "ended", 4, 5, outcome="expired/lease")],
                    "ended as ['completed', 'expired/lease']", "as completed was acknowledged")

    def test_an_end_that_was_acknowledged_in_line_is_not_taken_back(self):
        self.expect([call("serialize", "a", "queued", 0, 1, key="key-a"),
                     call("end", "a", "queued", 2, 3, asks="completed", end_requested=True),
                     call("look", "a", "ended", 40, 41, outcome="expired/abandoned")], "as completed was acknowledged")

    def test_an_unknown_end_may_have_been_or_not(self):
        self.expect([granted("a", 0, 1, 1), Call("end", "main", 2, 3, 503, "journal-unavailable", id="a",
                                                outcome="completed"),
                     call("look", "a", "ended", 14, 15, outcome="expired/lease")])

    def test_a_transition_is_not_forgotten(self):
        self.expect([granted("a", 0, 1, 1), call("look", "a", None, 2, 3, status=404, code="unknown-transition")],
                    "was known, and is not any more")

    def test_a_key_makes_one_transition(self):
        second = call("start", "b", "running", 12, 13, fence=2, key="key-a")
        self.expect([granted("a", 0, 1, 1), second], "the key key-a made a and b")

    def test_who_is_in_the_way_has_not_ended(self):
        self.expect([granted("a", 0, 1, 1), ended("a", 2, 3), call("look", "a", UNFINISHED, 4, 5)],
                    "a in main is unfinished again")

    def test_a_valid_lease_does_not_run_out(self):
        self.expect([granted("a", 0, 1, 1), call("renew", "a", "ended", 5, 6, outcome="expired/lease", status=410)],
                    "its lease was valid until 10.000")


    def test_a_holder_that_only_renews_is_not_passed(self):
        renewals = [call("renew", "a", "running", at, at + 0.1, fence=1, lease=2) for at in (1, 2, 3, 4)]
        self.expect([granted("a", 0, 0.1, 1, lease=2), *renewals, granted("b", 5, 5.5, 2)], "held at once")
        self.expect([granted("a", 0, 0.1, 1, lease=2), *renewals, granted("b", 5, 6.1, 2)])

    def test_a_repeated_request_gives_no_more_belief_than_its_answer_says(self):
        again = call("start", "a", "running", 5, 5.1, fence=1, key="key-a", is_repeated=True, remaining=1)
        self.assertEqual(believed_until(again), 6)

    def test_a_key_that_is_asked_again_at_another_node_keeps_its_transition(self):
        lost = Call("start", "main", 0, 1, None, key="key-a")
        second = call("start", "a", "running", 2, 3, fence=1, key="key-a", is_repeated=True, remaining=10)
        third = call("start", "a", "running", 4, 5, fence=1, key="key-a", is_repeated=True, remaining=10)
        self.expect([lost, second, third])

    def test_nothing_new_is_admitted_without_room(self):
        calls = [granted("a", 0, 1, 1), granted("b", 2, 3, 2), Call("start", "main", 2, 3, 503, "out-of-room"),
                 call("start", "c", "running", 2, 3, fence=3, key="key-c", is_repeated=True), ended("b", 2, 3),
                 granted("d", 2, 6, 4)]
        calls[1].status = 201
        found = admitted_without_room(calls, 1.5, 5)
        self.assertEqual(len(found), 1, found)
        self.assertIn("start in main made b", found[0])

    def test_what_was_refused_because_of_the_node_is_nowhere(self):
        for code in ("not-owner", "draining", "out-of-room"):
            refused = Call("start", "main", 0, 1, 503, code, node="1")
            self.assertEqual(carried_out(refused, "c-1", []), [])
            self.assertIn("it was carried out", carried_out(refused, "c-1", [{"id": "a"}])[0])
        unknown = Call("start", "main", 0, 1, 503, "journal-unavailable")
        self.assertEqual(carried_out(unknown, "c-1", [{"id": "a"}]), [])

    def test_shards_are_those_of_the_daemon(self):
        # The CRC-32 of "main" is 0xBF28CD64.
        self.assertEqual([shard_of("main", shards) for shards in (1, 6, 64, 16384)], [0, 1, 13, 0x0D64])


class SessionTests(unittest.TestCase):
    def setUp(self):
        self.session = Session("s", 0, 15)

    def test_a_session_is_not_lost_while_a_word_in_any_shard_keeps_it(self):
        self.session.heard(10)
        self.assertIn("is gone at 20.000, and was valid until 25.000", self.session.gone(20)[0])

    def test_a_session_without_a_word_may_go(self):
        self.session.heard(10)
        self.assertEqual(self.session.gone(25), [])

    def test_what_is_in_a_session_ends_with_it_in_every_shard(self):
        self.session.ended = 10
        running = Transition("a", "running")
        self.assertIsNone(self.session.outlived("a", "main", running, 60))
        self.assertIn("a in main is running 60 s after", self.session.outlived("a", "main", running, 71)[0])
        for seen in (None, Transition("a", "ended"), Transition("a", "running", end_requested=True)):
            self.assertEqual(self.session.outlived("a", "main", seen, 71), [])


class EventsTests(unittest.TestCase):
    def setUp(self):
        self.events = Events()
        self.follower = Follower("f", "main", self.events)

    def hear(self, number: int, name: str = "controller.didAppear", data: str = "{}") -> None:
        self.follower.hear(number, name, data)

    def test_numbers_without_a_gap(self):
        for number in (3, 4, 5):
            self.hear(number)
        self.assertEqual(self.events.check(), [])

    def test_a_gap(self):
        self.hear(3)
        self.hear(5)
        self.assertIn("hears 5 after 3", self.events.check()[0])

    def test_a_gap_after_a_reset(self):
        self.hear(3)
        self.hear(7, "reset")
        self.hear(8)
        self.assertEqual(self.events.check(), [])

    def test_a_reset_into_the_past(self):
        self.hear(8)
        self.hear(3, "reset")
        self.assertIn("is reset to 3", self.events.check()[0])

    def test_a_number_twice(self):
        self.hear(3)
        self.hear(3)
        self.assertIn("hears 3 after 3", self.events.check()[0])

    def test_two_contents_of_one_number(self):
        self.hear(3)
        Follower("g", "main", self.events).hear(3, "controller.didAppear", '{"other": 1}')
        self.assertIn("event 3 of main is", self.events.check()[0])

    def test_two_run_at_once(self):
        for number, id in ((1, "a"), (2, "b")):
            self.hear(number, "transition.running", f'{{"id": "{id}", "state": "running", "fence": {number}}}')
        self.assertIn("b runs in main at event 2, while a does", self.events.check()[0])

    def test_fences_shrink(self):
        self.hear(1, "transition.running", '{"id": "a", "state": "running", "fence": 2}')
        self.hear(2, "transition.ended", '{"id": "a", "state": "ended", "outcome": "completed"}')
        self.hear(3, "transition.running", '{"id": "b", "state": "running", "fence": 1}')
        self.assertIn("gets fence 1", self.events.check()[0])


    def test_an_acknowledged_end_is_in_the_events(self):
        for number, id in ((1, "a"), (2, "b")):
            self.hear(number, "transition.ended", f'{{"id": "{id}", "state": "ended", "outcome": "completed"}}')
        calls = [ended(id, 0, 1) for id in ("a", "b", "c")]
        self.assertEqual(len(unheard(calls, self.events, {"main"})), 1)
        self.assertIn("has heard of the end of c", unheard(calls, self.events, {"main"})[0])
        self.assertEqual(unheard(calls, self.events, set()), [])

    def test_an_end_that_a_reset_has_left_out_may_be_missing(self):
        self.hear(1)
        self.hear(7, "reset")
        self.assertEqual(unheard([ended("a", 0, 1)], self.events, {"main"}), [])

    def test_two_ends_of_one_transition(self):
        for number in (1, 2):
            self.hear(number, "transition.ended", '{"id": "a", "state": "ended", "outcome": "completed"}')
        self.assertIn("a ends twice", self.events.check()[0])


class RegisterTests(unittest.TestCase):
    def test_a_believer_is_refused(self):
        register = Register(lambda: 5)
        register.write("main", 2, 10, "new")
        self.assertFalse(register.write("main", 1, 10, "old"))
        self.assertIn("old was refused", register.violations[0])

    def test_who_does_not_believe_any_more_may_be_refused(self):
        register = Register(lambda: 5)
        register.write("main", 2, 10, "new")
        self.assertFalse(register.write("main", 1, 4, "old"))
        self.assertEqual(register.violations, [])


if __name__ == "__main__":
    unittest.main()
