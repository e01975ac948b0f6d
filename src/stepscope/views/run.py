"""One run in full: its description, how it ended, and its environment."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
from msgspec.structs import replace

from stepscope.inspect.logged import STEP_KIND
from stepscope.profile.profile import profiles_in
from stepscope.records import Alert, Artifact, GitState, RunMeta, Status
from stepscope.runs.catalogue.defined_goals import said_goals
from stepscope.runs.points.summary import MetricSummary
from stepscope.runs.read import attempts as runs_attempts
from stepscope.runs.read.folder import RunFolder
from stepscope.views.context import Context
from stepscope.views.diagnosis import diagnosis_of
from stepscope.views.edit import is_writable
from stepscope.views.findings import ShownFinding, findings_of
from stepscope.views.panel_order import metrics_in_order
from stepscope.views.plain import plain
from stepscope.views.route import route
from stepscope.views.runs import Cell, cell

MAX_LISTED = 500
MAX_SERIES = 5000


class RunRequest(msgspec.Struct):
    run: str
    """Its id."""
    brief: bool = False
    """Omit what never changes and may be large: the diff and the packages. For a page that follows a run."""


class Attempt(msgspec.Struct):
    """One start of the run's process on one rank."""

    attempt: int
    rank: int
    host: str
    pid: int
    started: float
    seen: float
    """Its last sign of life."""
    status: Status


class SummaryValue(msgspec.Struct):
    """Summary statistics of one series."""

    key: str
    last: Cell = None
    min: Cell = None
    max: Cell = None
    mean: Cell = None
    points: int = 0
    nonfinite: int = 0
    last_step: int | None = None
    chosen: Cell = None
    """By the metric's rule, or set by hand; else the last."""


class Surroundings(msgspec.Struct):
    host: str
    user: str
    python: str
    platform: str
    stepscope: str
    cwd: str
    script: str | None
    packages: dict[str, str]
    hardware: dict[str, Any]
    env: dict[str, str]


class Parts(msgspec.Struct, frozen=True):
    """Number of items in each part of the page."""

    metrics: int = 0
    media: int = 0
    """Keys, not items."""
    distributions: int = 0
    recordings: int = 0
    profiles: int = 0
    console: int = 0
    """Pieces of console output."""
    system: int = 0
    artifacts: int = 0
    ranks: int = 0
    """Number of ranks, if there are several."""


class RunDetail(msgspec.Struct):
    id: str
    name: str
    project: str
    group: str | None
    status: Status
    created: float
    duration_s: float
    tags: list[str]
    notes: str
    version: int
    path: str
    """The run folder on the server's machine."""
    command: list[str]
    config: dict[str, Any]
    config_origins: dict[str, str]
    """The source of settings (command line, default, a file ...), where known."""
    summary: list[SummaryValue]
    environment: Surroundings
    git: GitState | None
    alerts: list[Alert]
    findings: list[ShownFinding]
    """Most severe first."""
    watched: bool
    """Whether rules watched the script while it ran."""
    looked_at: list[str]
    """Which parts of its folder were checked for findings, in words."""
    artifacts: list[Artifact]
    attempts: list[Attempt]
    status_detail: str = ""
    """In one line: the error, or why this status was derived."""
    ended: float | None = None
    error: str | None = None
    """The exception that ended it, in one line."""
    traceback: str | None = None
    exit_code: int | None = None
    dropped: int = 0
    dropped_reasons: list[str] = []
    holes: int = 0
    """Damaged ranges in its files."""
    faults: list[str] = []
    """Internal errors of Stepscope while it recorded this run."""
    editable: bool = False
    parts: Parts = Parts()


@route("POST", "/api/run")
def run(ctx: Context, request: RunRequest) -> RunDetail:
    """Everything the run's own page shows, except its series."""
    entry = ctx.catalogue.entry(request.run)
    folder = ctx.runs.get(request.run)
    meta = folder.meta
    standing, drops = folder.standing, folder.drops
    return RunDetail(
        id=folder.id,
        name=folder.name,
        project=folder.project,
        group=folder.group,
        status=standing.status,
        created=folder.created,
        duration_s=folder.duration_s,
        tags=folder.tags,
        notes=folder.notes,
        version=entry.version,
        path=str(folder.path),
        command=meta.command,
        config=plain(folder.config),
        config_origins=folder.config_origins,
        summary=_summary(folder),
        environment=_surroundings(meta, packages=not request.brief),
        git=replace(meta.git, diff=None) if request.brief and meta.git is not None else meta.git,
        alerts=folder.alerts[-MAX_LISTED:],
        findings=findings_of(folder),
        watched=diagnosis_of(folder).watched,
        looked_at=diagnosis_of(folder).looked_at,
        artifacts=[replace(one, metadata=plain(one.metadata)) for one in folder.artifacts[-MAX_LISTED:]],
        attempts=[_attempt(one) for one in folder.attempts[-MAX_LISTED:]],
        status_detail=standing.detail,
        ended=standing.ended,
        error=standing.error,
        traceback=standing.traceback,
        exit_code=standing.exit_code,
        dropped=folder.dropped,
        dropped_reasons=list(dict.fromkeys(drop.reason for drop in drops)),
        holes=folder.holes,
        faults=[f"{fault.where}: {fault.error}" for fault in folder.faults[-MAX_LISTED:]],
        editable=not ctx.read_only and is_writable(folder.path),
        parts=_parts(folder),
    )


def _parts(folder: RunFolder) -> Parts:
    system = sum(name.startswith("system/") for name in folder.metrics())
    kinds = Counter(folder.media_keys().values())
    recordings, histograms = kinds.pop(STEP_KIND, 0), kinds.pop("histogram", 0)
    return Parts(
        metrics=len(folder.metrics()) - system,
        media=kinds.total(),
        distributions=histograms,
        recordings=recordings,
        profiles=len(profiles_in(folder.path)),
        console=len(folder.console_entries()),
        system=system,
        artifacts=len(folder.artifacts),
        ranks=len(folder.ranks) if len(folder.ranks) > 1 else 0,
    )


def _summary(folder: RunFolder) -> list[SummaryValue]:
    """Every series, most important first, then values that were only set by hand; up to the page's limit."""
    chosen = folder.summary
    metrics = folder.metrics()
    names = metrics_in_order(metrics, said_goals(metrics, folder.rules))[:MAX_SERIES]
    values = [_summary_value(name, folder.metric_summary(name), chosen.get(name)) for name in names]
    known = set(names)
    by_hand = [name for name in chosen if name not in known][:MAX_SERIES]
    return values + [SummaryValue(key=name, chosen=cell(chosen[name])) for name in by_hand]


def _summary_value(name: str, one: MetricSummary, chosen: Any) -> SummaryValue:
    def finite(value: float) -> Cell:
        return cell(value) if one.finite else None

    return SummaryValue(
        key=name,
        last=cell(one.last) if one.count else None,
        min=finite(one.min),
        max=finite(one.max),
        mean=finite(one.mean),
        points=one.count,
        nonfinite=one.nan + one.inf,
        last_step=one.last_step,
        chosen=cell(chosen),
    )


def _surroundings(meta: RunMeta, packages: bool) -> Surroundings:
    return Surroundings(
        host=meta.host,
        user=meta.user,
        python=meta.python,
        platform=meta.platform,
        stepscope=meta.stepscope,
        cwd=meta.cwd,
        script=meta.script,
        packages=meta.packages if packages else {},
        hardware=plain(meta.hardware),
        env=meta.env,
    )


def _attempt(one: runs_attempts.Attempt) -> Attempt:
    return Attempt(
        attempt=one.attempt,
        rank=one.rank,
        host=one.host,
        pid=one.pid,
        started=one.started,
        seen=one.seen,
        status=one.status,
    )
