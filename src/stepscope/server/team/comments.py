"""Comments on runs, their charts and reports, and where I was mentioned."""

from __future__ import annotations

from dataclasses import asdict

import msgspec

from stepscope.errors import Forbidden, UsageError
from stepscope.people.caller import EVERY
from stepscope.people.comments import (
    Comment,
    Topic,
    add_comment,
    comment,
    comments_on,
    mark_seen,
    mentions_of,
    remove_comment,
)
from stepscope.report import store
from stepscope.server.team.desk import Desk
from stepscope.views.route import Empty, route


class CommentRow(msgspec.Struct):
    id: str
    run: str | None
    report: str | None
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
    """Give a run or a report."""

    run: str | None = None
    report: str | None = None


class AddCommentRequest(msgspec.Struct):
    text: str
    run: str | None = None
    report: str | None = None
    chart: str | None = None
    """A chart of the run."""
    step: int | None = None


class RemoveCommentRequest(msgspec.Struct):
    id: str


class SeenRequest(msgspec.Struct):
    comments: list[str]


@route("POST", "/api/comments")
def comments(desk: Desk, request: CommentsRequest) -> Comments:
    """What people have said about a run and its charts, or about a report, the oldest first."""
    return _on(desk, _topic(desk, request)[1])


@route("POST", "/api/comments/add")
def add(desk: Desk, request: AddCommentRequest) -> Comments:
    """Say something about a run, a step of one of its charts, or a report. Whoever may see it may comment on it."""
    if desk.caller.kind == "link":
        raise Forbidden("a view-only link cannot comment; sign in first")
    project, topic = _topic(desk, request)
    add_comment(desk.database, desk.caller.user, project, topic, request.text, desk.messenger.tell)
    desk.note("comments/add", topic.key)
    desk.messenger.said(topic)
    return _on(desk, topic)


@route("POST", "/api/comments/remove")
def remove(desk: Desk, request: RemoveCommentRequest) -> Comments:
    """Remove a comment: mine, or for admins anybody's."""
    if desk.caller.kind == "link":
        raise Forbidden("a view-only link cannot remove comments; sign in first")
    about = comment(desk.database, request.id).topic
    _topic(desk, CommentsRequest(about.run, about.report))
    removed = remove_comment(desk.database, request.id, None if desk.caller.is_admin else desk.caller.user)
    desk.note("comments/remove", removed.topic.key)
    desk.messenger.said(removed.topic)
    return _on(desk, removed.topic)


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


def _topic(desk: Desk, request: CommentsRequest | AddCommentRequest) -> tuple[str, Topic]:
    """The project, and what the comment is about; not found, where the caller may not see it."""
    if (request.run is None) == (request.report is None):
        raise UsageError("give either a run or a report")
    chart, step = (request.chart, request.step) if isinstance(request, AddCommentRequest) else (None, None)
    if request.report is not None:
        desk.require("read", EVERY)
        return EVERY, Topic(report=store.find(desk.ctx.catalogue.stores, request.report).id)
    run = desk.ctx.catalogue.entry(str(request.run))
    return run.project, Topic(run=run.id, chart=chart, step=step)


def _on(desk: Desk, topic: Topic) -> Comments:
    return _answer(desk, comments_on(desk.database, topic))


def _answer(desk: Desk, found: list[Comment]) -> Comments:
    caller, signed_in = desk.caller, desk.caller.kind != "link"
    return Comments(
        [
            CommentRow(
                id=one.id,
                **asdict(one.topic),
                user=one.user,
                text=one.text,
                created=one.created,
                mine=signed_in and (caller.is_admin or one.user == caller.name),
            )
            for one in found
        ]
    )
