"""A proxy between client and server that loses, cuts, delays, doubles and reorders requests, by dice."""

from __future__ import annotations

import http.client
import random
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import NamedTuple
from urllib.parse import urlsplit

FAULTS = ("drop", "cut", "lose the answer", "double", "late", "delay", "garble", "half an answer")


class Request(NamedTuple):
    method: str
    path: str
    body: bytes
    headers: dict[str, str]


Answer = tuple[int, bytes, dict[str, str]]


class FaultProxy:
    """`url` is what the client is given; `share` of the requests have a fault."""

    def __init__(self, target: str, dice: random.Random, share: float = 0.5) -> None:
        self.target = urlsplit(target)
        self.faults: Counter[str] = Counter()
        self._dice, self._share = dice, share
        self._late: list[Request] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> FaultProxy:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, _: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)

    def heal(self) -> None:
        self._share = 0.0

    def fault(self) -> str:
        fault = self._dice.choice(FAULTS) if self._dice.random() < self._share else ""
        self.faults[fault] += 1
        return fault

    def forward(self, request: Request) -> Answer | None:
        """The server's answer; None if there is none."""
        host, port = self.target.hostname, self.target.port
        assert host is not None
        connection = http.client.HTTPConnection(host, port, timeout=20)
        try:
            connection.request(request.method, request.path, request.body, request.headers)
            answer = connection.getresponse()
            passed = {name: value for name, value in answer.getheaders() if name.lower().startswith("x-stepscope")}
            return answer.status, answer.read(), passed
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()

    def send_part(self, request: Request) -> None:
        """The server hears half of a request."""
        half = request._replace(body=request.body[: len(request.body) // 2])
        connection = http.client.HTTPConnection(str(self.target.hostname), self.target.port, timeout=20)
        try:
            connection.putrequest(half.method, half.path, skip_host=True, skip_accept_encoding=True)
            for name, value in half.headers.items():
                connection.putheader(name, value)
            connection.endheaders(half.body)
        except OSError:
            pass
        finally:
            connection.close()

    def through(self, request: Request, fault: str) -> Answer | None:
        if fault == "drop":
            return None
        if fault == "cut":
            self.send_part(request)
            return None
        if fault == "late":  # it comes after one that was sent later
            self._late.append(request)
            return None
        if fault == "garble" and request.body:
            at = self._dice.randrange(len(request.body))
            body = bytearray(request.body)
            body[at] ^= 1 << self._dice.randrange(8)
            request = request._replace(body=bytes(body))
        if fault == "delay":
            time.sleep(0.02)
        answer = self.forward(request)
        if fault == "double":
            answer = self.forward(request)
        while self._late:
            self.forward(self._late.pop())
        return None if fault == "lose the answer" else answer

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", "0")))
                headers = {name.lower(): value for name, value in self.headers.items()}
                headers["host"] = proxy.target.netloc
                fault = proxy.fault()
                answer = proxy.through(Request(self.command, self.path, body, headers), fault)
                self.close_connection = True
                if answer is None:
                    return
                self.send_response(answer[0])
                self.send_header("content-length", str(len(answer[1])))
                self.send_header("connection", "close")
                for name, value in answer[2].items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(answer[1][: len(answer[1]) // 2] if fault == "half an answer" else answer[1])

            do_GET = do_POST = handle_any

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Handler
