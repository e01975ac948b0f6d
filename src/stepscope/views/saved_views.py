"""Named layouts of pages, stored with the runs and shared by everyone who opens them."""

from __future__ import annotations

import re
import time
from pathlib import Path

import msgspec

from stepscope.errors import Forbidden, NotFound, UsageError
from stepscope.runs.format.ids import new_run_id
from stepscope.runs.format.layout import is_run_folder
from stepscope.views.context import Context
from stepscope.views.edit import is_writable
from stepscope.views.route import Empty, route
from stepscope.views.view_file import SavedView, change_views, read_views

MAX_VIEWS = 500
MAX_NAME = 100
MAX_QUERY = 20_000
_PAGE = re.compile(r"/[a-z0-9/_-]{0,100}", re.ASCII)
_ID = re.compile(r"[0-9A-Z]{26}")


class SavedViews(msgspec.Struct):
    views: list[SavedView]
    writable: bool
    """Views can be stored here; otherwise the page stores them in the browser."""


class SaveViewRequest(msgspec.Struct):
    name: str
    page: str
    query: dict[str, str]
    project: str = ""
    default: bool = False
    id: str = ""
    """The view to overwrite; empty for a new one."""


class DropViewRequest(msgspec.Struct):
    id: str


@route("POST", "/api/views")
def saved_views(ctx: Context, request: Empty) -> SavedViews:
    """Every saved view of the stores, by name."""
    return _answer(ctx)


@route("POST", "/api/views/save")
def save_view(ctx: Context, request: SaveViewRequest) -> SavedViews:
    """Save a view, new or existing; a new default replaces the previous one."""
    view = _checked(request)
    if view.project and not ctx.sees(view.project):
        raise Forbidden(f"you may not change project {view.project!r}; ask an admin for a role in it")
    store = _home(ctx, view.id) or _writable_store(ctx)
    if store is None:
        raise Forbidden("no store of this server is writable, so views stay in the browser")

    def change(views: list[SavedView]) -> list[SavedView]:
        if any(one.id == view.id and not _visible(ctx, one) for one in views):
            raise NotFound("this view no longer exists; save it as a new one")
        others = [one for one in views if one.id != view.id]
        if len(others) >= MAX_VIEWS:
            raise UsageError(f"there are {MAX_VIEWS} views already; delete one first")
        if view.default:
            for other in others:
                if (other.page, other.project) == (view.page, view.project):
                    other.default = False
        return [*others, view]

    change_views(store, change)
    return _answer(ctx)


@route("POST", "/api/views/drop")
def drop_view(ctx: Context, request: DropViewRequest) -> SavedViews:
    """Delete a view."""
    store = _home(ctx, request.id)
    if store is None:
        raise NotFound("this view no longer exists; reload the page")
    if ctx.read_only or not is_writable(store):
        raise Forbidden("this server may not change the views of its stores; make their folder writable")
    change_views(store, lambda views: [one for one in views if one.id != request.id])
    return _answer(ctx)


def _answer(ctx: Context) -> SavedViews:
    found = {one.id: one for store in _stores(ctx) for one in read_views(store) if _visible(ctx, one)}
    views = sorted(found.values(), key=lambda one: (one.name.lower(), one.id))
    return SavedViews(views=views, writable=_writable_store(ctx) is not None)


def _checked(request: SaveViewRequest) -> SavedView:
    name = request.name.strip()
    if not name or len(name) > MAX_NAME:
        raise UsageError(f"a view's name has 1 to {MAX_NAME} characters; this one has {len(name)}")
    if not _PAGE.fullmatch(request.page):
        raise UsageError(f"{request.page[:80]!r} is not a page; a page's path looks like /runs")
    size = sum(len(key) + len(value) for key, value in request.query.items())
    if size > MAX_QUERY:
        raise UsageError(f"the view has {size} characters; the maximum is {MAX_QUERY}")
    if request.id and not _ID.fullmatch(request.id):
        raise UsageError("this is not a view's id; leave it out to save a new one")
    return SavedView(
        id=request.id or new_run_id(),
        name=name,
        page=request.page,
        query=request.query,
        project=request.project,
        default=request.default,
        changed=time.time(),
    )


def _stores(ctx: Context) -> list[Path]:
    """Where views are stored; for a server that shows a single run, beside that run."""
    return [store.parent if is_run_folder(store) else store for store in ctx.catalogue.stores]


def _visible(ctx: Context, view: SavedView) -> bool:
    """Views without a project are shared by all."""
    return not view.project or ctx.sees(view.project)


def _home(ctx: Context, view: str) -> Path | None:
    for store in _stores(ctx):
        if any(one.id == view and _visible(ctx, one) for one in read_views(store)):
            return store
    return None


def _writable_store(ctx: Context) -> Path | None:
    if ctx.read_only:
        return None
    return next((store for store in _stores(ctx) if is_writable(store)), None)
