"""One run in full: what it is, how it ended, what it was made from."""

from __future__ import annotations

from typing import Any

import msgspec

from stepscope.records import Alert, Artifact, Finding, GitState, Status
from stepscope.views.context import Context
from stepscope.views.route import route
from stepscope.views.runs import Cell


class RunRequest(msgspec.Struct):
    run: str
    """Its id."""


class Attempt(msgspec.Struct):
    """One start of the run's process on one rank."""

    attempt: int
    rank: int
    host: str
    pid: int
    started: float
    seen: float
    """When it was last heard of."""
    status: Status


class SummaryValue(msgspec.Struct):
    """What stands for one series."""

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


class Environment(msgspec.Struct):
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
    summary: list[SummaryValue]
    environment: Environment
    git: GitState | None
    alerts: list[Alert]
    findings: list[Finding]
    artifacts: list[Artifact]
    attempts: list[Attempt]
    error: str | None = None
    """The exception that ended it, in one line."""
    traceback: str | None = None
    exit_code: int | None = None
    dropped: int = 0
    dropped_reasons: list[str] = []
    holes: int = 0
    """Damaged stretches in its files."""
    faults: list[str] = []
    """What went wrong inside Stepscope while it recorded this run."""
    editable: bool = False


@route("POST", "/api/run")
def run(ctx: Context, request: RunRequest) -> RunDetail:
    """Everything the run's own page shows, but not its series."""
    raise NotImplementedError
