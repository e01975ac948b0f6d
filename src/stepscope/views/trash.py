"""Delete runs, list deleted runs, restore them or remove them permanently."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from stepscope.errors import Forbidden, NotFound, StorageError, UsageError
from stepscope.runs.trash import Trashed, folder_size, move_to_trash, purge, restore, trashed_runs
from stepscope.views.context import Context
from stepscope.views.edit import MAX_RUNS, Edited, Refused, is_writable
from stepscope.views.route import Empty, route

MAX_WEIGHED = 200
"""Maximum number of folders measured before confirmation; beyond, the size is omitted."""


class DeleteRequest(msgspec.Struct):
    runs: list[str]
    force: bool = False
    """Also runs that are still running."""


class WeighRequest(msgspec.Struct):
    runs: list[str]


class Weight(msgspec.Struct):
    """What the user should know before confirming."""

    bytes: int | None
    """None if there are too many to count."""
    running: list[str]
    """Runs that are still running."""


class TrashedRun(msgspec.Struct):
    id: str
    name: str
    project: str
    deleted: float
    purged: float
    """When it is removed permanently."""
    bytes: int


class TrashList(msgspec.Struct):
    runs: list[TrashedRun]
    bytes: int
    days: float
    """How long deleted runs are kept, unless their project has its own setting."""


class TrashRequest(msgspec.Struct):
    """Runs in the trash; none means all of them."""

    runs: list[str] = []


@route("POST", "/api/runs/weigh")
def weigh(ctx: Context, request: WeighRequest) -> Weight:
    """The size of runs on disk, and which of them are still running."""
    entries = [ctx.catalogue.entry(run) for run in dict.fromkeys(request.runs)]
    size = sum(folder_size(entry.path) for entry in entries) if len(entries) <= MAX_WEIGHED else None
    return Weight(bytes=size, running=[entry.id for entry in entries if entry.status == "running"])


@route("POST", "/api/runs/delete")
def delete(ctx: Context, request: DeleteRequest) -> Edited:
    """Move runs to the trash, and report those that could not be moved."""
    _writable(ctx)
    if not request.runs:
        raise UsageError("nothing to delete: give the ids of runs")
    if len(request.runs) > MAX_RUNS:
        raise UsageError(f"{len(request.runs)} runs at once are too many; delete at most {MAX_RUNS}")

    def one(run: str) -> None:
        entry = ctx.catalogue.entry(run)
        if entry.status == "running" and not request.force:
            raise Forbidden(f"{entry.name!r} is still running; stop it first")
        if not is_writable(entry.path.parent):
            raise Forbidden(
                f"the folder {entry.path.parent} is read-only for this user; ask its owner for write access"
            )
        move_to_trash(entry.path, entry.name)

    return _each(ctx, request.runs, one)


@route("POST", "/api/trash")
def trash(ctx: Context, request: Empty) -> TrashList:
    """Deleted runs that can be restored, latest first."""
    found = _visible(ctx)
    days = {project: ctx.trash_days(project) for project in {one.project for one in found}}
    shown = [
        TrashedRun(one.id, one.name, one.project, one.deleted, one.deleted + days[one.project] * 86400, one.bytes)
        for one in found[:MAX_RUNS]
    ]
    return TrashList(runs=shown, bytes=sum(one.bytes for one in found), days=ctx.trash_days("*"))


@route("POST", "/api/trash/restore")
def restore_runs(ctx: Context, request: TrashRequest) -> Edited:
    """Restore deleted runs to their old place."""
    _writable(ctx)
    there = _in_trash(ctx)

    def one(run: str) -> None:
        restore(_one(there, run))

    return _each(ctx, request.runs or list(there), one)


@route("POST", "/api/trash/purge")
def purge_runs(ctx: Context, request: TrashRequest) -> Edited:
    """Remove deleted runs permanently."""
    _writable(ctx)
    there = _in_trash(ctx)
    return _each(ctx, request.runs or list(there), lambda run: purge(_one(there, run)))


def trash_homes(ctx: Context) -> list[Path]:
    """Folders that may have a trash: those of runs, and the stores, even without runs."""
    homes = ctx.catalogue.homes()
    for store in ctx.catalogue.stores:
        try:
            homes.update(path.parent for path in store.glob("*/.trash"))
            homes.update(path.parent for path in store.glob("*/*/.trash"))
        except OSError:  # a part of it may not be read
            continue
    return sorted(homes)


def _each(ctx: Context, runs: list[str], act: Callable[[str], None]) -> Edited:
    done = Edited(changed=[], refused=[])
    for run in dict.fromkeys(runs):
        try:
            act(run)
        except (Forbidden, NotFound, StorageError) as error:
            done.refused.append(Refused(run=run, reason=str(error)))
        else:
            done.changed.append(run)
    if done.changed:
        ctx.edited(done.changed)
    return done


def _in_trash(ctx: Context) -> dict[str, Trashed]:
    """By id; for a run that was deleted twice, the latest."""
    return {one.id: one for one in reversed(_visible(ctx))}


def _visible(ctx: Context) -> list[Trashed]:
    return [one for one in trashed_runs(trash_homes(ctx)) if ctx.sees(one.project)]


def _one(there: dict[str, Trashed], run: str) -> Trashed:
    try:
        return there[run]
    except KeyError:
        raise NotFound(f"run {run!r} is not in the trash; reload the page") from None


def _writable(ctx: Context) -> None:
    if ctx.read_only:
        raise Forbidden("this server was started read-only")
