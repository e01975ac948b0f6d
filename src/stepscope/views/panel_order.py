"""The order of panels on the Charts page: main metrics, other numbers, then media."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from stepscope.common.metric_direction import goal_of
from stepscope.runs.catalogue.main_metric import loss_likeness
from stepscope.runs.catalogue.ordering import natural_key

if TYPE_CHECKING:
    from stepscope.views.charts import PanelInfo

_COUNTERS = {"epoch", "epochs", "step", "steps", "global_step", "iter", "iteration", "iterations", "batch"}
_SCHEDULES = {"lr", "learning_rate"}
_MEDIA = ["image", "video", "figure", "curve", "confusion", "embedding", "table", "text", "html", "audio", "histogram"]

_MEASURED = frozenset({"watched", "time", "memory", "speed"})
"""Sections of what Stepscope itself records."""

Rank = tuple[int, ...]
_NOT_A_RESULT: Rank = (3,)


def in_order(panels: Collection[PanelInfo], goals: Collection[str] = (), axes: Collection[str] = ()) -> list[PanelInfo]:
    """Panels by section, the section with the most important panel first; likewise inside each section.

    What Stepscope records by itself follows what the script logs, if that includes a result; the machine is last.
    `goals` are metrics with a user-defined goal, `axes` those that others are drawn over.
    """
    ranks = {id(panel): _rank(panel.key, panel.kind, goals, axes) for panel in panels}
    sections = {id(panel): _section(panel) for panel in panels}
    best: dict[str, Rank] = {}
    for panel in panels:
        section = sections[id(panel)]
        best[section] = min(best.get(section, (9,)), ranks[id(panel)])
    late = _late_sections(best)

    def place(panel: PanelInfo) -> tuple[object, ...]:
        section = sections[id(panel)]
        whose = (section == "system", section in late, best[section], section != "", natural_key(section))
        return (*whose, ranks[id(panel)], natural_key(panel.key), panel.kind)

    return sorted(panels, key=place)


def metrics_in_order(names: Iterable[str], goals: Collection[str] = ()) -> list[str]:
    """The same for a bare list of metrics.

    >>> metrics_in_order(["epoch", "lr", "val/acc", "val/loss", "time/data_ms"])
    ['val/loss', 'val/acc', 'lr', 'epoch', 'time/data_ms']
    """
    ranks = {name: _rank(name, "scalar", goals, ()) for name in names}
    best: dict[str, Rank] = {}
    for name, rank in ranks.items():
        section = name.partition("/")[0]
        best[section] = min(best.get(section, (9,)), rank)
    late = _late_sections(best)

    def place(name: str) -> tuple[object, ...]:
        section = name.partition("/")[0]
        return (section == "system", section in late, ranks[name], natural_key(name))

    return sorted(ranks, key=place)


def _section(panel: PanelInfo) -> str:
    """The page shows media without a prefix under a heading of their own."""
    return panel.section if panel.section or panel.kind == "scalar" else "media"


def _late_sections(best: dict[str, Rank]) -> frozenset[str]:
    own = (rank for section, rank in best.items() if section not in _MEASURED and section != "system")
    return _MEASURED if any(rank < _NOT_A_RESULT for rank in own) else frozenset()


def _rank(key: str, kind: str, goals: Collection[str], axes: Collection[str]) -> Rank:
    """Sort key; lower comes first."""
    if kind != "scalar":
        return (6, _MEDIA.index(kind) if kind in _MEDIA else len(_MEDIA))
    if key in goals:
        return (0,)
    leaf = key.rpartition("/")[2].lower()
    if key in axes or leaf in _COUNTERS:
        return (5,)
    likeness = loss_likeness(key)
    if likeness is not None:
        return (1, *likeness)
    if goal_of(key) is not None:
        return (2,)
    return (4,) if leaf in _SCHEDULES else (3,)
