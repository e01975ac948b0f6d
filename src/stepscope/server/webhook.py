"""Alerts to a chat: one small POST to the address that whoever started the server gave.

The address is a secret (who has it can write into the chat), so it is never shown or logged, only its host. Redirects
are not followed, nothing of the answer is read but its status, and nothing in a run can change where a message goes.
"""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from stepscope.errors import ConfigError
from stepscope.plain_text import clean
from stepscope.views.notice import Notice

TIMEOUT_S = 10.0
WAITS_S = (1.0, 4.0, 15.0)
"""Between the tries; a chat that asks for a longer wait gets it, up to a minute."""
MAX_TEXT = 1500
_REASONS: tuple[tuple[type[Exception], str], ...] = (
    (socket.gaierror, "no machine of that name is known here"),
    (ssl.SSLCertVerificationError, "its certificate is not one that this machine trusts"),
    (ssl.SSLError, "it does not speak TLS there"),
    (TimeoutError, f"no answer within {TIMEOUT_S:.0f} seconds"),
    (ConnectionRefusedError, "nothing listens there"),
    (ConnectionError, "it broke the connection off"),
    (http.client.HTTPException, "it does not speak HTTP there"),
)
_SIGNS = {"error": "🔴", "warning": "🟡", "info": "🔵"}


class Webhook:
    """Sends notices to one address. `send` waits and tries again, so it is called from a thread of its own."""

    def __init__(self, url: str, sleep: Callable[[float], object] = time.sleep) -> None:
        try:
            parts = urlsplit(url)
            self._port = parts.port
        except ValueError:
            raise ConfigError(
                "the webhook's address cannot be read; it should be like https://hooks.example.com/…"
            ) from None
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ConfigError(
                f"a webhook's address begins with https:// or http://; this one begins with {parts.scheme!r}"
            )
        if parts.username or parts.password:
            raise ConfigError(
                "a webhook's address with a user name and password is not supported; use one with a token"
            )
        if any(letter.isspace() or not letter.isprintable() for letter in url):
            raise ConfigError("the webhook's address has spaces or control characters; copy it again")
        self.host = parts.hostname
        self._secure = parts.scheme == "https"
        self._path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self._sleep = sleep

    @property
    def name(self) -> str:
        """How it is shown: never with the path, which is the secret."""
        return f"webhook ({self.host})"

    def send(self, notice: Notice) -> str | None:
        """Tell it; why it could not be told, after all tries, or None."""
        body = json.dumps(payload(notice, self.host)).encode()
        trouble = ""
        for wait in (*WAITS_S, None):
            status, longer = 0, 0.0
            try:
                status, longer = self._post(body)
                trouble = f"{self.host} answered with status {status}"
            except (OSError, http.client.HTTPException) as fault:
                trouble = f"{self.host} cannot be reached: {_why(fault)}"
            if 200 <= status < 300:
                return None
            if wait is None or (300 <= status < 500 and status not in (408, 429)):
                break  # it will say the same again
            self._sleep(min(60.0, max(wait, longer)))
        return trouble

    def _post(self, body: bytes) -> tuple[int, float]:
        connection: http.client.HTTPConnection
        if self._secure:
            context = ssl.create_default_context()
            connection = http.client.HTTPSConnection(self.host, self._port, timeout=TIMEOUT_S, context=context)
        else:
            connection = http.client.HTTPConnection(self.host, self._port, timeout=TIMEOUT_S)
        try:
            headers = {"Content-Type": "application/json", "User-Agent": "stepscope"}
            connection.request("POST", self._path, body, headers)
            answer = connection.getresponse()
            after = answer.getheader("Retry-After") or ""
            return answer.status, float(after) if after.isdecimal() else 0.0
        finally:
            connection.close()


def _why(fault: Exception) -> str:
    """In words; never the fault's own text, which may hold the address."""
    for kind, words in _REASONS:
        if isinstance(fault, kind):
            return words
    return type(fault).__name__


def payload(notice: Notice, host: str) -> dict[str, Any]:
    """The message in the words of the service; for any other address plain fields, with `text` as the sentence."""
    title, text = clean(notice.title)[:300], clean(notice.text)[:MAX_TEXT]
    where = clean("/".join(part for part in (notice.project, notice.name) if part))[:300]
    place = " · ".join(part for part in (where, notice.run) if part)
    sentence = f"{_SIGNS[notice.level]} {title}" + (f": {text}" if text else "") + f"\n{place}"
    if _is(host, "slack.com"):
        return {"text": _slack(sentence)}
    if _is(host, "discord.com", "discordapp.com"):
        return {"content": sentence[:1990], "allowed_mentions": {"parse": []}}
    if _is(host, "office.com", "azure.com", "powerplatform.com"):
        return _card(f"{_SIGNS[notice.level]} {title}", text, where)
    fields = {"kind": notice.kind, "level": notice.level, "title": title, "detail": text, "time": notice.time}
    return {"text": sentence, **fields, "run": notice.run, "name": notice.name, "project": notice.project}


def _is(host: str, *names: str) -> bool:
    return any(host == name or host.endswith(f".{name}") for name in names)


def _slack(text: str) -> str:
    """A run's name must not call a channel: `<!channel>`."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _card(title: str, text: str, where: str) -> dict[str, Any]:
    """Microsoft Teams."""
    lines = [{"type": "TextBlock", "text": title, "weight": "bolder", "wrap": True}]
    lines += [{"type": "TextBlock", "text": words, "wrap": True} for words in (text, where) if words]
    card = {"type": "AdaptiveCard", "version": "1.4", "body": lines}
    attachment = {"contentType": "application/vnd.microsoft.card.adaptive", "content": card}
    return {"type": "message", "attachments": [attachment]}
