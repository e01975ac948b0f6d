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
    match event:
        case ConfigUpdate():
            story.config.update(event.values)
            kept = {name: said for name, said in story.origins.items() if name not in event.values}
            story.origins = {**kept, **event.origins}
        case SummaryUpdate():
            story.summary.update(event.values)
        case TagsChange():
            story.tags = [tag for tag in story.tags if tag not in event.remove]
            story.tags += [tag for tag in event.add if tag not in story.tags]
        case NotesChange():
            story.notes = event.text
        case NameChange():
            story.name = event.name
        case FindingEvent():
            story.findings.append(event.finding)
        case Coverage():
            story.coverage = event
        case Environment():
            story.meta = _completed(story.meta, event)
        case _:
            _keep(story, event)


def _keep(story: Story, event: Event) -> None:
    """Add an event that is kept as it is."""
    match event:
        case MetricRule():
            story.rules.append(event)
        case Alert():
            story.alerts.append(event)
        case Artifact():
            story.artifacts.append(event)
        case FaultNote():
            story.faults.append(event)
        case Dropped():
            story.drops.append(event)


def _completed(meta: RunMeta, late: Environment) -> RunMeta:
    return replace(
        meta,
        git=late.git or meta.git,
        packages={**meta.packages, **late.packages},
        hardware={**meta.hardware, **late.hardware},
    )
