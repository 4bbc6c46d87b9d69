"""Tests of the proxy: what it mistreats, and what it leaves alone."""

import http.client
import http.server
import json
import subprocess
import sys
import threading
import unittest
from pathlib import Path


class Answering(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.count += 1
        if self.path == "/v3/kv/put":
            # As etcd refuses what it has no room for.
            self.send_response(429)
            self.send_header("Transfer-Encoding", "chunked")
            self.send_header("Trailer", "Grpc-Trailer-Content-Type")
            self.end_headers()
            self.wfile.write(b"2\r\nno\r\n0\r\nGrpc-Trailer-Content-Type: application/grpc\r\n\r\n")
            return
        text = str(self.server.count).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        pass


class ProxyTests(unittest.TestCase):
    def setUp(self):
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answering)
        self.server.count = 0
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        # A port that is free now.
        with http.server.HTTPServer(("127.0.0.1", 0), Answering) as other:
            self.port = other.server_port
        self.proxy = subprocess.Popen(
            [sys.executable, Path(__file__).parent / "proxy.py", f"{self.port}=127.0.0.1:{self.server.server_port}"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.proxy.stdout.readline()

    def tearDown(self):
        self.proxy.kill()
        self.proxy.communicate()
        self.server.shutdown()
        self.server.server_close()

    def tell(self, command: str) -> None:
        self.proxy.stdin.write(command + "\n")
        self.proxy.stdin.flush()

    def write(self) -> str:
        return self.ask({"success": [{"requestPut": {"key": ""}}]})

    def test_an_answer_with_fields_after_its_body_leaves_the_connection_usable(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        self.addCleanup(connection.close)
        for path, text in (("/v3/kv/put", b"no"), ("/v3/kv/range", b"2"), ("/v3/kv/put", b"no"),
                           ("/v3/kv/range", b"4")):
            connection.request("POST", path, "{}")
            self.assertEqual(connection.getresponse().read(), text)

    def ask(self, body: object) -> str:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            connection.request("POST", "/v3/kv/txn", json.dumps(body))
            return connection.getresponse().read().decode()
        finally:
            connection.close()

    def mistreated(self, command: str, write) -> None:
        """Writes until the command has been read, and the write suffers from it."""
        self.tell(command)
        for _ in range(100):
            if write():
                return
        self.fail("nothing was mistreated")

    def test_it_passes_on_what_it_is_not_told_to_mistreat(self):
        self.assertEqual(self.write(), "1")

    def test_an_answer_gets_lost_after_its_transaction_was_carried_out(self):
        def is_lost() -> bool:
            try:
                self.write()
                return False
            except (OSError, http.client.HTTPException):
                return True

        self.mistreated("drop 1", is_lost)
        self.assertTrue(self.proxy.stdout.readline().startswith("drop"))
        before = self.server.count
        self.assertEqual(self.write(), str(before + 1))

    def test_a_transaction_is_sent_twice_and_reads_are_not(self):
        def is_twice() -> bool:
            before = self.server.count
            return int(self.write()) == before + 2

        self.mistreated("twice 1", is_twice)
        self.tell("twice 1")
        before = self.server.count
        self.assertEqual(self.ask({"success": []}), str(before + 1))


if __name__ == "__main__":
    unittest.main()
