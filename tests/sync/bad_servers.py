"""Servers that are slow or lie: what `stepscope sync` has to live with.

with silent_server() as url: ...                       takes connections, never answers
with lying_server(b'{"size":0}') as url: ...           says that it has nothing, and then the same to every piece
with liar(b"HTTP/1.1 200 OK", b"{}") as (url, heard): ...
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

__all__ = ["liar", "lying_server", "silent_server"]


@contextmanager
def silent_server() -> Iterator[str]:
    """Takes connections and never answers, as a server does whose machine has no memory left."""
    with socket.create_server(("127.0.0.1", 0), backlog=50) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


@contextmanager
def lying_server(answer: bytes) -> Iterator[str]:
    """Says that it has nothing, and then the same to every piece."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(b'{"files":{}}')

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self._answer(answer)

        def _answer(self, body: bytes) -> None:
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join(10)


class _Liar(BaseHTTPRequestHandler):
    """Answers every request with `head` and then `body`, again and again if it is `endless`."""

    protocol_version = "HTTP/1.1"
    head, body, endless = b"", b"", False
    heard: ClassVar[list[str]]

    def do_GET(self) -> None:
        self.heard.append(self.headers.get("authorization", ""))
        self.close_connection = True
        with suppress(OSError):
            self.wfile.write(self.head + b"\r\n\r\n" + self.body)
            while self.endless:
                self.wfile.write(self.body)

    do_POST = do_GET

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def liar(head: bytes, body: bytes = b"", *, endless: bool = False) -> Iterator[tuple[str, list[str]]]:
    """The address of a server that lies, and the tokens that it was shown."""
    heard: list[str] = []
    kind = type("Liar", (_Liar,), {"head": head, "body": body, "endless": endless, "heard": heard})
    with ThreadingHTTPServer(("127.0.0.1", 0), kind) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", heard
        finally:
            server.shutdown()
            thread.join(10)
