"""View-only links: one project or one run, for whoever has the address, until it expires or is revoked."""

from __future__ import annotations

import msgspec

from stepscope.errors import NotFound, UsageError
from stepscope.people.tokens import Token, make_token, revoke_token, tokens_of
from stepscope.server.team.desk import DAY_S, Desk
from stepscope.views.route import Empty, route


class ViewLink(msgspec.Struct):
    id: str
    name: str
    project: str | None
    run: str | None
    created: float
    expires: float | None
    used: float | None


class ViewLinks(msgspec.Struct):
    links: list[ViewLink]


class MakeLinkRequest(msgspec.Struct):
    run: str | None = None
    project: str | None = None
    name: str = ""
    """Recipient, or what it is for."""
    days: float = 30.0


class MadeLink(msgspec.Struct):
    link: ViewLink
    url: str
    """Below this server's address. It is shown once: only its hash is kept."""


class RevokeLinkRequest(msgspec.Struct):
    id: str


@route("POST", "/api/links")
def links(desk: Desk, request: Empty) -> ViewLinks:
    """Links that work now, to the projects and runs that the caller may change."""
    return ViewLinks([_shown(token) for token in _visible(desk)])


@route("POST", "/api/links/make")
def make(desk: Desk, request: MakeLinkRequest) -> MadeLink:
    """A link to one run, or to all runs of a project."""
    if (request.run is None) == (request.project is None):
        raise UsageError("give either a run or a project to share")
    if request.run is not None:
        project, page = desk.ctx.catalogue.entry(request.run).project, f"#/run/{request.run}"
    else:
        project, page = str(request.project), ""
    desk.require("write", project)
    token, secret = make_token(
        desk.database,
        desk.caller.user,
        "link",
        name=request.name,
        scopes=["read"],
        lifetime_s=request.days * DAY_S,
        project=request.project,
        run=request.run,
    )
    desk.note("links/make", request.run or f"project {project}", f"{request.days:g} days")
    return MadeLink(_shown(token), f"/?token={secret}{page}")


@route("POST", "/api/links/revoke")
def revoke(desk: Desk, request: RevokeLinkRequest) -> ViewLinks:
    """Close a link, at once."""
    if request.id not in {token.id for token in _visible(desk)}:
        raise NotFound(f"there is no link {request.id[:40]!r}, or it has been revoked or has expired")
    revoke_token(desk.database, request.id)
    desk.note("links/revoke", request.id)
    return links(desk, Empty())


def _visible(desk: Desk) -> list[Token]:
    found = tokens_of(desk.database, kinds=("link",))
    return [token for token in found if _may_change(desk, token)]


def _may_change(desk: Desk, token: Token) -> bool:
    if token.project is not None:
        return desk.caller.may("write", token.project)
    try:
        desk.ctx.catalogue.entry(str(token.run))
    except NotFound:
        return token.user == desk.caller.user
    return True


def _shown(token: Token) -> ViewLink:
    return ViewLink(token.id, token.name, token.project, token.run, token.created, token.expires, token.used)
