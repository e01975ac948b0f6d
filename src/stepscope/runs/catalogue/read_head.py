"""Read a run for the catalog: once in full if it has ended, incrementally while it is live."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from stepscope.records import SummaryUpdate
from stepscope.runs.catalogue.defined_goals import said_goals
from stepscope.runs.catalogue.entry import Head
from stepscope.runs.catalogue.main_metric import main_metric, sparkline
from stepscope.runs.catalogue.metric_stats import pack_stats
from stepscope.runs.points.summary import MetricSummary, rule_for
from stepscope.runs.read.folder import RunFolder, open_run

_MOST_CONFIG_TEXT = 2000
"""Longer config texts (a whole prompt, say) are truncated in the catalog; the run itself has them in full."""


class Reading:
    """The result of reading a run."""

    def __init__(self, folder: RunFolder, version: int) -> None:
        summaries = folder.summaries()
        self.folder = folder
        self.names = tuple(summaries)
        self.stats = pack_stats(summaries.values())
        self.head = _head(folder, summaries, version)

    def again(self) -> Head:
        """The head with its current status, derived from what was read before: no file is opened."""
        standing = self.folder.standing
        head = msgspec.structs.replace(
            self.head, status=standing.status, ended=standing.ended, duration_s=self.folder.duration_s
        )
        if standing.status != self.head.status:
            head.version += 1
        self.head = head
        return head


def read_run(path: Path, before: Reading | None = None, version: int = 0) -> Reading:
    """Read a run, or only what is new; its version is at least the given one.

    Raises what `open_run` raises.
    """
    folder = open_run(path) if before is None else before.folder
    folder.refresh()
    return Reading(folder, max(folder.version, version))


def _head(folder: RunFolder, summaries: dict[str, MetricSummary], version: int) -> Head:
    meta, standing = folder.meta, folder.standing
    main = main_metric(tuple(summaries), tuple(folder.rules))
    return Head(
        id=meta.id,
        name=folder.name,
        project=folder.project,
        status=standing.status,
        created=folder.created,
        ended=standing.ended,
        duration_s=folder.duration_s,
        tags=folder.tags,
        notes=folder.notes,
        group=folder.group,
        host=meta.host,
        user=meta.user,
        commit=meta.git.commit if meta.git else None,
        branch=meta.git.branch if meta.git else None,
        config={key: _short(value) for key, value in folder.config.items()},
        summary=_chosen(folder, summaries),
        main=main,
        spark=sparkline(folder.series(main).values) if main is not None else [],
        findings=sum(one.severity != "info" for one in folder.findings),
        dropped=folder.dropped,
        version=version,
        goals=said_goals(summaries, folder.rules),
        errors=sum(one.severity == "error" for one in folder.findings),
    )


def _chosen(folder: RunFolder, summaries: dict[str, MetricSummary]) -> dict[str, Any]:
    """Summary values other than a metric's last value: chosen by a rule, or set by hand."""
    chosen: dict[str, Any] = {}
    rules = [rule for rule in folder.rules if rule.summary not in (None, "last")]
    for name, summary in summaries.items() if rules else ():
        rule = rule_for(name, rules)
        if rule is not None:
            chosen[name] = summary.by_rule(rule.summary)
    for update in folder.events(SummaryUpdate):
        chosen.update(update.values)
    return chosen


def _short(value: Any) -> Any:
    return value[:_MOST_CONFIG_TEXT] if isinstance(value, str) else value
