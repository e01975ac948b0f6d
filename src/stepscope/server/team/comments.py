"""Comments on runs, and where I was mentioned."""

from __future__ import annotations

import msgspec

from stepscope.errors import Forbidden
from stepscope.people.comments import Comment, add_comment, comments_on, mark_seen, mentions_of, remove_comment
from stepscope.server.team.desk import Desk
from stepscope.views.route import Empty, route


class CommentRow(msgspec.Struct):
    id: str
    run: str
    chart: str | None
    step: int | None
    user: str
    text: str
    """Markdown; `@name` mentions somebody."""
    created: float
    mine: bool
    """The caller may remove it."""


class Comments(msgspec.Struct):
    comments: list[CommentRow]


class CommentsRequest(msgspec.Struct):
    run: str


class AddCommentRequest(msgspec.Struct):
    run: str
    text: str
    chart: str | None = None
    step: int | None = None


class RemoveCommentRequest(msgspec.Struct):
    id: str


class SeenRequest(msgspec.Struct):
    comments: list[str]


@route("POST", "/api/comments")
def comments(desk: Desk, request: CommentsRequest) -> Comments:
    """What people have said about a run, the oldest first."""
    run = desk.ctx.catalogue.entry(request.run)  # not found, where the caller may not see it
    return _answer(desk, comments_on(desk.database, run.id))


@route("POST", "/api/comments/add")
def add(desk: Desk, request: AddCommentRequest) -> Comments:
    """Say something about a run, or about a step of one of its charts. Whoever may see it may comment on it."""
    if desk.caller.kind == "link":
        raise Forbidden("a view-only link cannot comment; sign in first")
    run = desk.ctx.catalogue.entry(request.run)
    add_comment(
        desk.database, desk.caller.user, run.project, run.id, request.text, chart=request.chart, step=request.step
    )
    desk.note("comments/add", run.id)
    return comments(desk, CommentsRequest(run.id))


@route("POST", "/api/comments/remove")
def remove(desk: Desk, request: RemoveCommentRequest) -> Comments:
    """Remove a comment: mine, or for admins anybody's."""
    if desk.caller.kind == "link":
        raise Forbidden("a view-only link cannot remove comments; sign in first")
    removed = remove_comment(desk.database, request.id, None if desk.caller.is_admin else desk.caller.user)
    desk.note("comments/remove", removed.run)
    return _answer(desk, comments_on(desk.database, removed.run))


@route("POST", "/api/mentions")
def mentions(desk: Desk, request: Empty) -> Comments:
    """Comments that mention me and that I have not marked as seen, the newest first."""
    found = [] if desk.caller.kind == "link" else mentions_of(desk.database, desk.caller.user)
    return _answer(desk, [one for one in found if desk.caller.may("read", one.project)])


@route("POST", "/api/mentions/seen")
def seen(desk: Desk, request: SeenRequest) -> Comments:
    """I have seen these."""
    if desk.caller.kind != "link":
        mark_seen(desk.database, desk.caller.user, request.comments)
    return mentions(desk, Empty())


def _answer(desk: Desk, found: list[Comment]) -> Comments:
    name, admin = desk.caller.name, desk.caller.is_admin
    signed_in = desk.caller.kind != "link"
    rows = [
        CommentRow(
            one.id,
            one.run,
            one.chart,
            one.step,
            one.user,
            one.text,
            one.created,
            signed_in and (admin or one.user == name),
        )
        for one in found
    ]
    return Comments(rows)
