"""A mail server on loopback, for tests: it speaks SMTP over a real socket and keeps what it is given."""

from __future__ import annotations

import email
import email.policy
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import EmailMessage
from typing import cast

__all__ = ["MailServer", "mail_server"]


class MailServer(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Session)
        self.mail: list[tuple[str, EmailMessage]] = []
        """Recipient and message."""
        self.refuse = ""
        """The answer to a recipient instead of 250: `450 busy`."""

    @property
    def url(self) -> str:
        return f"smtp://127.0.0.1:{self.server_address[1]}?from=stepscope@example.org"


class _Session(socketserver.StreamRequestHandler):
    server: MailServer

    def handle(self) -> None:
        self._say("220 loopback")
        recipient = ""
        for raw in self.rfile:
            word = raw.decode().strip()
            if word.upper().startswith("RCPT"):
                recipient = word.partition("<")[2].partition(">")[0]
                self._say(self.server.refuse or "250 ok")
            elif word.upper() == "DATA":
                self._say("354 go on")
                message = email.message_from_bytes(self._body(), policy=email.policy.default)
                self.server.mail.append((recipient, cast(EmailMessage, message)))
                self._say("250 kept")
            elif word.upper() == "QUIT":
                self._say("221 bye")
                return
            else:
                self._say("250 ok")

    def _body(self) -> bytes:
        lines: list[bytes] = []
        for raw in self.rfile:
            if raw == b".\r\n":
                break
            lines.append(raw.removeprefix(b".") if raw.startswith(b"..") else raw)
        return b"".join(lines)

    def _say(self, line: str) -> None:
        self.wfile.write(line.encode() + b"\r\n")


@contextmanager
def mail_server() -> Iterator[MailServer]:
    with MailServer() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
