"""Where web pages come from, and how their requests get to the daemon."""

import contextlib
import http.server
import socket
import ssl
import threading
from pathlib import Path
from typing import Self

PAGE = Path(__file__).with_name("page.html").read_bytes()
# Its origin is opaque: requests of what is in the frame say `Origin: null`.
SANDBOX = b'<!doctype html><title>Around</title><iframe sandbox="allow-scripts allow-forms" src="/"></iframe>'


class PageHandler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        content = SANDBOX if self.path == "/sandbox" else PAGE
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def do_POST(self) -> None:
        """Sends the browser on to the address in the query, with the same method and body."""
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(307)
        self.send_header("Location", self.path.partition("?")[2])
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


class PageServer(http.server.ThreadingHTTPServer):
    """Serves the page on a port of 127.0.0.1, under every host name."""

    daemon_threads = True

    def __init__(self, certificate: Path | None = None) -> None:
        self._connections: list[socket.socket] = []
        super().__init__(("127.0.0.1", 0), PageHandler)
        self.scheme = "http"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            # A connection that the browser opens in advance shakes hands in its own thread.
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
            self.scheme = "https"
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05})
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self._thread.join()
        self.server_close()
        # Also those that the browser has opened in advance, so that it sends nothing more here.
        for connection in self._connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def get_request(self) -> tuple[socket.socket, tuple]:
        connection, address = super().get_request()
        self._connections.append(connection)
        return connection, address

    def handle_error(self, *_: object) -> None:
        """The browser closes connections that it opened in advance; that is no error here."""

    def origin(self, host: str) -> str:
        return f"{self.scheme}://{host}:{self.server_port}"


class Relay:
    """Passes connections on to a port, and can be cut."""

    def __init__(self, port: int) -> None:
        self._target = ("127.0.0.1", port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._lock = threading.Lock()
        self._open: list[socket.socket] = []
        self._is_cut = False
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def cut(self) -> None:
        """Cuts every connection, and each new one until the relay is mended."""
        with self._lock:
            self._is_cut = True
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
            self._open.clear()

    def mend(self) -> None:
        with self._lock:
            self._is_cut = False

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                if self._is_cut:
                    client.close()
                    continue
                server = socket.create_connection(self._target)
                self._open += [client, server]
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=self._pass_on, args=(source, sink), daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket) -> None:
        # It may be cut at any time.
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
