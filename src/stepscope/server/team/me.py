"""Who I am, my tokens, and leaving."""

from __future__ import annotations

import msgspec

from stepscope.errors import Forbidden
from stepscope.people.caller import checked_scopes
from stepscope.people.tokens import Token, make_token, revoke_token, tokens_of
from stepscope.people.users import find_user
from stepscope.server.team.desk import DAY_S, Desk
from stepscope.views.route import Empty, route


class Me(msgspec.Struct):
    """The signed-in user, and what their token or browser may do."""

    name: str
    kind: str
    """personal (a token), session (a browser), link (view only)."""
    admin: bool
    """An admin of the server."""
    scopes: list[str]
    roles: dict[str, str]
    """Project (`*`: every one) -> viewer, writer or admin."""


class TokenRow(msgspec.Struct):
    id: str
    name: str
    kind: str
    scopes: list[str]
    created: float
    expires: float | None
    used: float | None


class TokenList(msgspec.Struct):
    tokens: list[TokenRow]


class TokensRequest(msgspec.Struct):
    user: str | None = None
    """Somebody else, for admins."""


class MakeTokenRequest(msgspec.Struct):
    name: str
    scopes: list[str] = msgspec.field(default_factory=lambda: ["ingest", "read", "write"])
    days: float | None = None
    """How long it can be used; None: until it is revoked."""


class MadeToken(msgspec.Struct):
    token: TokenRow
    secret: str
    """It is shown once: only its hash is kept."""


class RevokeTokenRequest(msgspec.Struct):
    id: str


@route("GET", "/api/me")
def me(desk: Desk, request: Empty) -> Me:
    """Who asks."""
    caller = desk.caller
    return Me(caller.name, caller.kind, caller.admin, sorted(caller.scopes), dict(caller.roles))


@route("POST", "/api/tokens")
def tokens(desk: Desk, request: TokensRequest) -> TokenList:
    """My tokens and signed-in browsers that still work."""
    _check_may_manage(desk)
    user = desk.caller.user
    if request.user is not None and request.user != desk.caller.name:
        if not desk.caller.is_admin:
            raise Forbidden(f"{desk.caller.name} is not an admin of this server and sees only their own tokens")
        user = find_user(desk.database, request.user).id
    return TokenList([_row(token) for token in tokens_of(desk.database, user, ("personal", "session"))])


@route("POST", "/api/tokens/make")
def make(desk: Desk, request: MakeTokenRequest) -> MadeToken:
    """A token for scripts and for `stepscope login`; it can do no more than the one that asks."""
    _check_may_manage(desk)
    scopes = checked_scopes(request.scopes)
    beyond = scopes - desk.caller.scopes
    if beyond:
        raise Forbidden(f"this token cannot give {', '.join(sorted(beyond))} on: it does not have that itself")
    lifetime = None if request.days is None else request.days * DAY_S
    token, secret = make_token(desk.database, desk.caller.user, name=request.name, scopes=scopes, lifetime_s=lifetime)
    desk.note("tokens/make", token.id, f"{request.name}: {' '.join(sorted(scopes))}")
    return MadeToken(_row(token), secret)


@route("POST", "/api/tokens/revoke")
def revoke(desk: Desk, request: RevokeTokenRequest) -> TokenList:
    """End a token now: mine, or for admins anybody's."""
    _check_may_manage(desk)
    token = revoke_token(desk.database, request.id, None if desk.caller.is_admin else desk.caller.user)
    desk.note("tokens/revoke", token.id, token.name)
    return tokens(desk, TokensRequest())


@route("POST", "/api/logout")
def logout(desk: Desk, request: Empty) -> Empty:
    """End the token or session that asks. A view-only link stays: it is not this browser's own."""
    if desk.caller.kind != "link":
        revoke_token(desk.database, desk.caller.token)
        desk.note("sign out")
    return Empty()


def _check_may_manage(desk: Desk) -> None:
    """A token that was stolen must not make another one that outlives it, nor end those of its owner."""
    if desk.caller.kind != "session" and not desk.caller.is_admin:
        raise Forbidden("tokens are made and revoked on the People page, by a browser that is signed in")


def _row(token: Token) -> TokenRow:
    scopes = sorted(token.scopes)
    return TokenRow(token.id, token.name, token.kind, scopes, token.created, token.expires, token.used)
