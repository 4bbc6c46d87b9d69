"""Tests of what one client costs the others: what the attacker counts, and the table."""

import contextlib
import socket
import threading
import unittest
from collections.abc import Iterator

from measure.attacker import Attacker
from measure.attacks import ATTACKS
from measure.figures import Figures
from measure.other_rows import COLUMNS, as_markdown, cells
from measure.victim import Victim
from measure.wire import ConnectionEnded, Wire, request


def answer(status: int, content: bytes = b"{}") -> bytes:
    return b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n%s" % (status, len(content), content)


@contextlib.contextmanager
def answering(*answers: bytes) -> Iterator[int]:
    """The port of a server that gives these answers on its first connection, one for each request, and closes it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        def serve() -> None:
            connection, _ = listener.accept()
            with connection, connection.makefile("rb") as requests:
                for each in answers:
                    length = 0
                    while (line := requests.readline().strip().lower()):
                        if line.startswith(b"content-length:"):
                            length = int(line.partition(b":")[2])
                    requests.read(length)
                    connection.sendall(each)

        thread = threading.Thread(target=serve)
        thread.start()
        yield listener.getsockname()[1]
        thread.join()


class WireTests(unittest.TestCase):
    def test_answers_come_in_the_order_of_the_requests(self) -> None:
        with answering(answer(201, b'{"a":1}'), answer(409, b""), answer(200, b"[]")) as port, Wire(port) as wire:
            given = wire.ask_all([request("POST", "/", {"a": 1}), request("GET", "/"), request("PUT", "/", [])])
            self.assertEqual([(each.status, each.content) for each in given],
                             [(201, b'{"a":1}'), (409, b""), (200, b"[]")])

    def test_an_answer_in_chunks_is_put_together(self) -> None:
        chunks = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n"
        with answering(chunks, answer(204, b"")) as port, Wire(port) as wire:
            given = wire.ask_all([request("GET", "/"), request("GET", "/")])
            self.assertEqual([(each.status, each.content) for each in given], [(200, b"abc"), (204, b"")])

    def test_a_connection_that_ends_is_no_answer(self) -> None:
        with answering(answer(200)) as port, Wire(port) as wire:
            wire.ask(request("GET", "/"))
            with self.assertRaises((ConnectionEnded, ConnectionError)):
                wire.ask(request("GET", "/"))


class AttackerTests(unittest.TestCase):
    def test_what_is_built_ends_at_the_first_refusal(self) -> None:
        with answering(answer(201), answer(201), answer(201), answer(429)) as port:
            attacker = Attacker(port, scale=0.5, seconds=1)
            built = attacker.build(attacker.count(20), lambda number: [request("POST", f"/{number}", {})], at_once=2)
            self.assertEqual((len(built), attacker.built, attacker.requests), (3, 3, 4))
            attacker.close()

    def test_a_quick_run_builds_less(self) -> None:
        with answering() as port:
            attacker = Attacker(port, scale=0.2, seconds=1)
            self.assertEqual([attacker.count(whole) for whole in (3_000, 4, 1)], [600, 1, 1])
            attacker.close()


class VictimTests(unittest.TestCase):
    def test_a_lease_that_is_lost_is_counted_and_taken_again(self) -> None:
        held, stopped = answer(201, b'{"id":"t-1","token":"x"}'), threading.Event()
        with answering(held, answer(410), held, held, answer(200)) as port:
            victim = Victim(port)
            stopped.is_set = iter([False, True]).__next__
            victim.run(stopped)
            self.assertEqual((victim.refused, victim.lost, len(victim.waits)), (1, 1, 3))
            victim.close()


class TableTests(unittest.TestCase):
    def setUp(self) -> None:
        self.figures = Figures()
        self.attack = ATTACKS[1]
        for measure, value in {"built": 3000, "requests": 6, "p50": 1, "p99.9": 12.5}.items():
            self.figures.add(f"others-{measure}", self.attack.name, "ms", value)

    def test_an_attack_has_a_row_that_says_what_was_built(self) -> None:
        head, row = cells(self.figures)
        self.assertEqual(head, ["what one client does", *COLUMNS.values()])
        self.assertEqual(row, [self.attack.title.replace("#", "3,000"), "6", "1", "12.5", "", "", "", ""])

    def test_only_the_first_column_is_text(self) -> None:
        self.assertIn("| --- | ---: | ---: |", as_markdown(cells(self.figures)))

    def test_every_attack_has_a_name_of_its_own(self) -> None:
        self.assertEqual(len({attack.name for attack in ATTACKS}), len(ATTACKS))
