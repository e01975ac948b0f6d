"""Who is at the door: the one token of a local app, or the people of a team server.

A door turns what a request shows (an `Authorization` header, our cookie) into a `Caller`, and what stands in an address
(`?token=...`) into a cookie.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.types import Scope

from stepscope.people.caller import LOCAL, Caller

if TYPE_CHECKING:
    from stepscope.database.engine import Database

__all__ = ["CALLER", "Codes", "Cookie", "Door", "PeopleDoor", "TokenDoor", "cookie_name"]

CALLER = "stepscope.caller"
"""Set in a request's scope by the guard: who makes it."""


@dataclass(frozen=True)
class Cookie:
    value: str
    lifetime_s: int | None = None
    """None: until the browser is closed."""


class Door(Protocol):
    where: str
    """What a person without a token sees."""

    async def caller(self, scope: Scope, headers: Headers) -> Caller | None:
        """Who shows what we know; None for a stranger."""

    async def admit(self, secret: str) -> Cookie | None:
        """A cookie for who opened an address with this secret in it."""


class Codes:
    """Single-use codes in place of the token where others could see it: a browser's command line."""

    def __init__(self, lifetime_s: float = 60.0) -> None:
        self._lifetime_s = lifetime_s
        self._codes: dict[str, float] = {}

    def make(self) -> str:
        code = secrets.token_urlsafe(24)
        self._codes[code] = time.monotonic() + self._lifetime_s
        return code

    def redeem(self, code: str) -> bool:
        return self._codes.pop(code, 0.0) > time.monotonic()


class TokenDoor:
    """The app of one person: whoever has its token may do everything."""

    where = (
        "Open the whole address that <code>stepscope ui</code> printed in the terminal, "
        "with its <code>?token=</code> part."
    )

    def __init__(self, token: str | None, codes: Codes) -> None:
        self._token = token
        self._codes = codes
        self._cookie = hmac.new((token or "").encode(), b"stepscope cookie", hashlib.sha256).hexdigest()

    async def caller(self, scope: Scope, headers: Headers) -> Caller | None:
        token = self._token
        known = (
            token is None
            or any(_same(given, token) for given in _bearer(headers))
            or any(_same(given, self._cookie) for given in _cookies(scope, headers))
        )
        return LOCAL if known else None

    async def admit(self, secret: str) -> Cookie | None:
        if self._token is not None and (_same(secret, self._token) or self._codes.redeem(secret)):
            return Cookie(self._cookie)
        return None


class PeopleDoor:
    """A team's server: personal tokens in headers, sessions and view-only links in cookies, looked up each time."""

    def __init__(self, database: Database, *, provider: bool = False) -> None:
        self._database = database
        self.where = "Ask an admin of this server for an invitation, and open its whole address."
        if provider:
            self.where = '<a href="/login">Sign in</a>'

    async def caller(self, scope: Scope, headers: Headers) -> Caller | None:
        for secret in _bearer(headers):
            return await run_in_threadpool(self._find, secret, "personal")
        for secret in _cookies(scope, headers):
            found = await run_in_threadpool(self._find, secret, "session", "link")
            if found is not None:
                return found
        return None

    async def admit(self, secret: str) -> Cookie | None:
        return await run_in_threadpool(self._admitted, secret)

    def _admitted(self, secret: str) -> Cookie | None:
        from stepscope.people.audit import note
        from stepscope.people.tokens import SESSION_S, redeem_invite

        made = redeem_invite(self._database, secret)
        if made is not None:
            found = self._find(made[1], "session")
            note(self._database, found.name if found else "", "sign in", "with an invitation")
            return Cookie(made[1], int(SESSION_S))
        # A view-only link is its own cookie: revoked or expired, it is refused at the next request.
        return Cookie(secret) if self._find(secret, "link") is not None else None

    def _find(self, secret: str, *kinds: str) -> Caller | None:
        from stepscope.people.tokens import caller_of

        return caller_of(self._database, secret, kinds)


def cookie_name(scope: Scope) -> str:
    """Browsers share cookies between the ports of a host; the port in the name keeps two servers apart."""
    server = scope.get("server")
    return f"stepscope-{server[1] if server else 0}"


def _bearer(headers: Headers) -> Iterator[str]:
    kind, _, credential = headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        yield credential.strip()


def _cookies(scope: Scope, headers: Headers) -> Iterator[str]:
    name = cookie_name(scope)
    for pair in headers.get("cookie", "").split(";"):
        key, _, value = pair.strip().partition("=")
        if key == name:
            yield value


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), wanted.encode())
