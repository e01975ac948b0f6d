"""The state that a run's events add up to: config, tags, notes, alerts and recording problems."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from stepscope.records import (
    Alert,
    Artifact,
    ConfigUpdate,
    Coverage,
    Dropped,
    Environment,
    Event,
    FaultNote,
    Finding,
    FindingEvent,
    MetricRule,
    NameChange,
    NotesChange,
    RunMeta,
    SummaryUpdate,
    TagsChange,
)


@dataclass
class Story:
    """A run's state, the latest event winning."""

    meta: RunMeta
    """Completed by what was collected late."""
    name: str
    notes: str
    tags: list[str]
    config: dict[str, Any]
    origins: dict[str, str] = field(default_factory=dict)
    """The source of settings, where known."""
    summary: dict[str, Any] = field(default_factory=dict)
    """Values set by hand."""
    rules: list[MetricRule] = field(default_factory=list)
    alerts: list[Alert] = field(default_factory=list)
    artifacts: list[Artifact] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    faults: list[FaultNote] = field(default_factory=list)
    drops: list[Dropped] = field(default_factory=list)
    coverage: Coverage | None = None


def tell(meta: RunMeta, events: Iterable[Event]) -> Story:
    """The state after `events`, in order."""
    story = Story(meta, meta.name, meta.notes, list(meta.tags), dict(meta.config))
    for event in events:
        _add(story, event)
    return story


def _add(story: Story, event: Event) -> None:
    if isinstance(event, ConfigUpdate):
        story.config.update(event.values)
        kept = {name: said for name, said in story.origins.items() if name not in event.values}
        story.origins = {**kept, **event.origins}
    elif isinstance(event, SummaryUpdate):
        story.summary.update(event.values)
    elif isinstance(event, MetricRule):
        story.rules.append(event)
    elif isinstance(event, TagsChange):
        story.tags = [tag for tag in story.tags if tag not in event.remove]
        story.tags += [tag for tag in event.add if tag not in story.tags]
    elif isinstance(event, NotesChange):
        story.notes = event.text
    elif isinstance(event, NameChange):
        story.name = event.name
    elif isinstance(event, Alert):
        story.alerts.append(event)
    elif isinstance(event, Artifact):
        story.artifacts.append(event)
    elif isinstance(event, FindingEvent):
        story.findings.append(event.finding)
    elif isinstance(event, FaultNote):
        story.faults.append(event)
    elif isinstance(event, Dropped):
        story.drops.append(event)
    elif isinstance(event, Coverage):
        story.coverage = event
    elif isinstance(event, Environment):
        story.meta = _completed(story.meta, event)


def _completed(meta: RunMeta, late: Environment) -> RunMeta:
    return replace(
        meta,
        git=late.git or meta.git,
        packages={**meta.packages, **late.packages},
        hardware={**meta.hardware, **late.hardware},
    )
