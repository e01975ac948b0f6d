"""A run in the catalog: enough to list, filter, sort and group it without opening its folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from stepscope.common.metric_direction import Goal
from stepscope.records import Status
from stepscope.runs.catalogue.metric_stats import MetricStats
from stepscope.runs.query.fields import Field


class Head(msgspec.Struct, array_like=True, gc=False):
    """What the index stores about a run, except the numbers of its metrics."""

    id: str
    name: str
    project: str
    status: Status
    created: float
    ended: float | None
    duration_s: float
    tags: list[str]
    notes: str
    group: str | None
    host: str
    user: str
    commit: str | None
    branch: str | None
    config: dict[str, Any]
    summary: dict[str, Any]
    """Values set by hand or chosen by summary rules, by name."""
    main: str | None
    spark: list[float | None]
    findings: int
    """Errors and warnings; notes are not counted."""
    dropped: int
    version: int
    goals: dict[str, Goal] = {}
    """The goal of each metric, where the user defined one."""
    errors: int = 0
    """The number of findings that are errors."""


class RunEntry:
    """One row of the catalog: the facts of a run as of the last `refresh`."""

    __slots__ = ("_path", "head", "metrics")

    def __init__(self, path: str, head: Head, metrics: MetricStats) -> None:
        self._path = path
        self.head = head
        self.metrics = metrics
        """The `MetricSummary` of each metric, by name; unpacked on access."""

    @property
    def path(self) -> Path:
        return Path(self._path)

    @property
    def id(self) -> str:
        return self.head.id

    @property
    def name(self) -> str:
        return self.head.name

    @property
    def project(self) -> str:
        return self.head.project

    @property
    def status(self) -> Status:
        return self.head.status

    @property
    def created(self) -> float:
        return self.head.created

    @property
    def ended(self) -> float | None:
        return self.head.ended

    @property
    def duration_s(self) -> float:
        return self.head.duration_s

    @property
    def tags(self) -> list[str]:
        return self.head.tags

    @property
    def notes(self) -> str:
        return self.head.notes

    @property
    def group(self) -> str | None:
        return self.head.group

    @property
    def host(self) -> str:
        return self.head.host

    @property
    def user(self) -> str:
        return self.head.user

    @property
    def config(self) -> dict[str, Any]:
        """Flat, nested keys joined with `/`."""
        return self.head.config

    @property
    def main(self) -> str | None:
        """The metric that represents the run."""
        return self.head.main

    @property
    def spark(self) -> list[float | None]:
        """About forty values of the main metric; None where not finite."""
        return self.head.spark

    @property
    def findings(self) -> int:
        return self.head.findings

    @property
    def errors(self) -> int:
        return self.head.errors

    @property
    def dropped(self) -> int:
        return self.head.dropped

    @property
    def goals(self) -> dict[str, Goal]:
        """The goal of each metric that `run.define` set."""
        return self.head.goals

    @property
    def version(self) -> int:
        """Increases whenever anything in the run changes."""
        return self.head.version

    def value(self, field: Field, now: float = 0.0) -> Any:
        """The value of a query-language field, or None if the run lacks it. `now` is the reference for age."""
        if field.source == "metric":
            return self._metric(field)
        if field.source == "config":
            config = self.head.config
            found = config.get(field.name)
            return config.get(field.name.replace(".", "/")) if found is None and "." in field.name else found
        if field.source == "summary":
            chosen = self.head.summary.get(field.name)
            return self.metrics.number(field.name, "last") if chosen is None else chosen
        return FACTS[field.name](self.head, now)

    def _metric(self, field: Field) -> float | int | None:
        stat = field.stat or "last"
        found = self.metrics.number(field.name, stat)
        if found is None and field.name not in self.metrics:
            return self.metrics.number(
                f"{field.name}.{stat}", "last"
            )  # for example a metric whose own name ends in .max
        return found

    def __repr__(self) -> str:
        return f"<RunEntry {self.id} {self.name!r} {self.status}>"


FACTS: dict[str, Callable[[Head, float], Any]] = {
    "name": lambda head, now: head.name,
    "project": lambda head, now: head.project,
    "id": lambda head, now: head.id,
    "status": lambda head, now: head.status,
    "tags": lambda head, now: head.tags,
    "notes": lambda head, now: head.notes,
    "host": lambda head, now: head.host or None,
    "user": lambda head, now: head.user or None,
    "group": lambda head, now: head.group,
    "created": lambda head, now: head.created,
    "ended": lambda head, now: head.ended,
    "age": lambda head, now: now - head.created,
    "duration": lambda head, now: head.duration_s,
    "findings": lambda head, now: head.findings,
    "dropped": lambda head, now: head.dropped,
    "git.commit": lambda head, now: head.commit,
    "git.branch": lambda head, now: head.branch,
}
"""The fields of the query language that every run has."""
