"""What fills the server, what its projects keep, and how much they may fill."""

from __future__ import annotations

import shutil

import msgspec

from stepscope.errors import UsageError
from stepscope.people.caller import EVERY
from stepscope.runs.retention.plan import Policy
from stepscope.server.jobs import Jobs
from stepscope.server.policies import Settings, read_policies, remove_settings, set_settings
from stepscope.server.retention import preview
from stepscope.server.run_storage import KINDS, by_project, largest_runs, used_by
from stepscope.server.team.desk import Desk
from stepscope.views.route import Empty, route

PREVIEW_S = 8.0
MOST = 200


class Retention(msgspec.Struct):
    """None keeps everything."""

    points_days: float | None = None
    media_newest: int | None = None
    artifact_days: float | None = None
    trash_days: float = 30.0


class ProjectStorage(msgspec.Struct):
    """A project with all its runs. The project `*` has the settings of those without their own, and no runs."""

    project: str
    runs: int
    points: int
    media: int
    artifacts: int
    other: int
    incoming: int
    """Arrived since a run was last measured."""
    trash: int
    on_disk: int
    retention: Retention
    own: bool
    """Whether it has settings of its own."""
    quota_bytes: int | None
    may_change: bool


class UserStorage(msgspec.Struct):
    name: str
    runs: int
    bytes: int
    quota_bytes: int | None


class FailedJob(msgspec.Struct):
    kind: str
    subject: str
    tries: int
    error: str


class Storage(msgspec.Struct):
    projects: list[ProjectStorage]
    """The largest first."""
    users: list[UserStorage]
    """For admins of the server."""
    waiting: int
    """Jobs that wait to be done."""
    failing: list[FailedJob]
    disk_free: int
    disk_total: int


class StorageRunsRequest(msgspec.Struct):
    project: str | None = None
    kind: str | None = None
    """points, media, artifacts or other; all of them by default."""


class StorageRun(msgspec.Struct):
    id: str
    name: str
    project: str
    user: str
    points: int
    media: int
    artifacts: int
    other: int
    incoming: int
    trashed: bool


class StorageRuns(msgspec.Struct):
    runs: list[StorageRun]
    """The largest first."""


class PolicyRequest(msgspec.Struct):
    project: str
    retention: Retention | None = None
    """None: those of `*` count for it too."""


class QuotaRequest(msgspec.Struct):
    kind: str
    """project or user"""
    name: str
    quota_bytes: int | None = None


class PreviewRun(msgspec.Struct):
    id: str
    name: str
    bytes: int
    points: int
    media: int
    artifacts: list[str]


class RetentionPreview(msgspec.Struct):
    """What would be removed now."""

    runs: list[PreviewRun]
    total: int
    """How many runs in all."""
    bytes: int
    looked_at: int
    unread: list[str]
    partial: bool


@route("POST", "/api/storage")
def storage(desk: Desk, request: Empty) -> Storage:
    """What fills the server, by project and by user."""
    policies = read_policies(desk.database)
    used = {use.project: use for use in by_project(desk.database) if desk.caller.may("read", use.project)}
    names = [*used, *(name for name in policies.projects if name not in used and desk.caller.may("read", name))]
    if EVERY not in names:
        names.append(EVERY)
    projects = []
    for name in names:
        use, settings = used.get(name), policies.project(name)
        sizes = {kind: getattr(use, kind, 0) for kind in ("runs", *KINDS, "incoming", "trash", "on_disk")}
        kept = Retention(**msgspec.structs.asdict(settings.policy))
        own, may = name in policies.projects, desk.caller.may("admin", name)
        projects.append(
            ProjectStorage(name, **sizes, retention=kept, own=own, quota_bytes=settings.quota_bytes, may_change=may)
        )
    admin = desk.caller.is_admin
    jobs = Jobs(desk.database)
    disk = shutil.disk_usage(desk.ctx.catalogue.stores[0])
    return Storage(
        projects=projects,
        users=_users(desk) if admin else [],
        waiting=jobs.waiting(),
        failing=[FailedJob(one.kind, one.subject, one.tries, one.error) for one in jobs.failing()] if admin else [],
        disk_free=disk.free,
        disk_total=disk.total,
    )


def _users(desk: Desk) -> list[UserStorage]:
    policies = read_policies(desk.database)
    used = used_by(desk.database, "user_name")
    names = [*used, *(name for name in policies.users if name not in used)]
    found = [UserStorage(name, *used.get(name, (0, 0)), policies.user(name).quota_bytes) for name in names]
    return sorted(found, key=lambda one: -one.bytes)


@route("POST", "/api/storage/runs")
def storage_runs(desk: Desk, request: StorageRunsRequest) -> StorageRuns:
    """The runs that take the most."""
    if request.kind is not None and request.kind not in KINDS:
        raise UsageError(f"{request.kind[:40]!r} is not a kind; choose from {', '.join(KINDS)}")
    projects = desk.caller.projects("read")
    if request.project is not None:
        desk.require("read", request.project)
        projects = frozenset([request.project])
    rows = largest_runs(desk.database, projects, request.kind, MOST)
    return StorageRuns([StorageRun(**dict(zip(StorageRun.__struct_fields__, row, strict=True))) for row in rows])


@route("POST", "/api/storage/policy")
def policy(desk: Desk, request: PolicyRequest) -> Storage:
    """Set what a project keeps; for its admins."""
    desk.require("admin", request.project)
    held = read_policies(desk.database)
    quota = held.projects[request.project].quota_bytes if request.project in held.projects else None
    if request.retention is not None:
        set_settings(desk.database, "project", request.project, Settings(_policy(request.retention), quota))
    elif quota is not None and request.project != EVERY:
        set_settings(desk.database, "project", request.project, Settings(held.project(EVERY).policy, quota))
    else:
        remove_settings(desk.database, "project", request.project)
    desk.note("storage/policy", request.project, _said(request.retention))
    return storage(desk, Empty())


@route("POST", "/api/storage/quota")
def quota(desk: Desk, request: QuotaRequest) -> Storage:
    """Set how much a project or a user may fill; for admins of the server."""
    held = read_policies(desk.database)
    if request.kind == "project":
        settings = Settings(held.project(request.name).policy, request.quota_bytes)
        set_settings(desk.database, "project", request.name, settings)
    elif request.kind == "user":
        set_settings(desk.database, "user", request.name, Settings(quota_bytes=request.quota_bytes))
    else:
        raise UsageError(f"{request.kind[:40]!r} is not something with a quota; choose project or user")
    desk.note("storage/quota", f"{request.kind} {request.name}", str(request.quota_bytes or "no limit"))
    return storage(desk, Empty())


@route("POST", "/api/storage/preview")
def storage_preview(desk: Desk, request: PolicyRequest) -> RetentionPreview:
    """A dry run: what these settings would remove now."""
    desk.require("admin", request.project)
    wanted = (
        _policy(request.retention)
        if request.retention
        else read_policies(desk.database).project(request.project).policy
    )
    every = desk.ctx.catalogue.every()
    found = preview(every, every, request.project, wanted, PREVIEW_S)
    runs = [
        PreviewRun(
            one.entry.id,
            one.entry.name,
            one.plan.bytes,
            one.plan.points,
            len(one.plan.media),
            list(one.plan.artifacts)[:20],
        )
        for one in found.runs[:MOST]
    ]
    return RetentionPreview(runs, len(found.runs), found.bytes, found.looked_at, found.unread[:20], found.partial)


def _policy(given: Retention) -> Policy:
    return Policy(**msgspec.structs.asdict(given))


def _said(given: Retention | None) -> str:
    if given is None:
        return "as all others"
    parts = [
        f"{name.replace('_', ' ')}: {'no limit' if value is None else f'{value:g}'}"
        for name, value in msgspec.structs.asdict(given).items()
    ]
    return ", ".join(parts)
