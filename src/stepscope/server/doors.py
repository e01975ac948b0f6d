"""Who is at the door: the one token of a local app, or the people of a team server.

A door turns a request's credentials (an `Authorization` header, our cookie) into a `Caller`, and those in an address
(`?token=...`) into a cookie.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Literal, Protocol

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Scope

from stepscope.people.caller import EVERY, LOCAL, Caller
from stepscope.server.plain_pages import plain_page

if TYPE_CHECKING:
    from stepscope.database.engine import Database

CALLER = "stepscope.caller"
"""Set in a request's scope by the guard: who makes it."""
INVITATION = "/login/invitation"
"""Where the page of an invitation sends its form."""


@dataclass(frozen=True)
class Cookie:
    value: str
    lifetime_s: int | None = None
    """None: until the browser is closed."""
    samesite: Literal["lax", "strict"] = "strict"


class Door(Protocol):
    title: str
    where: str
    """What a person without a token sees."""

    async def caller(self, scope: Scope, headers: Headers) -> Caller | None:
        """Who shows what we know; None for a stranger."""

    async def refusal(self, headers: Headers) -> tuple[str, str]:
        """The message for a program without a login, and what to do."""

    async def about(self, secret: str) -> str:
        """Why an address with this secret in it opens nothing."""

    async def welcome(self, secret: str) -> Response | None:
        """A page that asks first, where opening the address alone must not sign anybody in."""

    async def admit(self, secret: str, known: Caller | None = None) -> Cookie | None:
        """A cookie for who opened an address with this secret in it; None where they keep the one they have."""


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

    title = "This page needs its access token"
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

    async def refusal(self, headers: Headers) -> tuple[str, str]:
        hint = "Open the address that was printed, or send `Authorization: Bearer TOKEN`."
        return "This server needs its access token.", hint

    async def about(self, secret: str) -> str:
        return "The token in this address is not the one of this server."

    async def welcome(self, secret: str) -> Response | None:
        return None

    async def admit(self, secret: str, known: Caller | None = None) -> Cookie | None:
        if self._token is not None and (_same(secret, self._token) or self._codes.redeem(secret)):
            return Cookie(self._cookie)
        return None


class PeopleDoor:
    """A team's server: personal tokens in headers, sessions and view-only links in cookies, looked up each time."""

    title = "Sign in"

    def __init__(self, database: Database, *, provider: bool = False) -> None:
        self._database = database
        self.where = "Ask an admin of this server for an invitation, and open its whole address."
        if provider:
            self.where = '<a class="button" href="/login">Sign in</a>'

    async def caller(self, scope: Scope, headers: Headers) -> Caller | None:
        for secret in _bearer(headers):
            return await run_in_threadpool(self._find, secret, "personal")
        for secret in _cookies(scope, headers):
            found = await run_in_threadpool(self._find, secret, "session", "link")
            if found is not None:
                return found
        return None

    async def refusal(self, headers: Headers) -> tuple[str, str]:
        for secret in _bearer(headers):
            return await self.about(secret), "Make a new token on the People page of this server."
        return "This server needs a token.", "Sign in, or send `Authorization: Bearer TOKEN` with a personal token."

    async def about(self, secret: str) -> str:
        from stepscope.people.tokens import what_is_wrong

        return await run_in_threadpool(what_is_wrong, self._database, secret)

    async def welcome(self, secret: str) -> Response | None:
        """An invitation is used by a click, not by whatever looks into a link: chats and mail filters do.

        The page names the user, so nobody is signed in as somebody else without seeing it.
        """
        invited = await run_in_threadpool(self._find, secret, "invite")
        if invited is None:
            return None
        name = escape(invited.name)
        form = (
            f"<p>This invitation signs this browser in as <strong>{name}</strong>. It works once.</p>"
            f'<form method="post" action="{INVITATION}"><input type="hidden" name="invitation" '
            f'value="{escape(secret)}"><button>Sign in as {name}</button></form>'
        )
        return plain_page("You are invited", form, form=True)

    async def admit(self, secret: str, known: Caller | None = None) -> Cookie | None:
        link = await run_in_threadpool(self._find, secret, "link")
        if link is None or (known is not None and known.kind == "session" and _sees_as_much(known, link)):
            return None
        # A view-only link is its own cookie: revoked or expired, it is refused at the next request. It is for people
        # who come from a chat or a mail, and it changes nothing, so it may come along from there.
        return Cookie(secret, samesite="lax")

    def _find(self, secret: str, *kinds: str) -> Caller | None:
        from stepscope.people.tokens import caller_of

        return caller_of(self._database, secret, kinds)


def _sees_as_much(known: Caller, link: Caller) -> bool:
    """Whether who is signed in need not become a guest to see what a link shows."""
    return known.may("read", EVERY) or (link.run is None and all(known.may("read", one) for one in link.roles))


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
