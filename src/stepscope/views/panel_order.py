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

Rank = tuple[int, ...]


def in_order(panels: Collection[PanelInfo], goals: Collection[str] = (), axes: Collection[str] = ()) -> list[PanelInfo]:
    """Panels by section: the section with the most important panel first, the machine's last; likewise inside each.

    `goals` are metrics with a user-defined goal, `axes` those that others are drawn over.
    """
    ranks = {id(panel): _rank(panel.key, panel.kind, goals, axes) for panel in panels}
    best: dict[str, Rank] = {}
    for panel in panels:
        best[panel.section] = min(best.get(panel.section, (9,)), ranks[id(panel)])

    def place(panel: PanelInfo) -> tuple[object, ...]:
        section = panel.section
        whose = (section == "system", best[section], section != "", natural_key(section))
        return (*whose, ranks[id(panel)], natural_key(panel.key), panel.kind)

    return sorted(panels, key=place)


def metrics_in_order(names: Iterable[str], goals: Collection[str] = ()) -> list[str]:
    """The same for a bare list of metrics.

    >>> metrics_in_order(["epoch", "lr", "val/acc", "val/loss"])
    ['val/loss', 'val/acc', 'lr', 'epoch']
    """
    return sorted(
        names, key=lambda name: (name.startswith("system/"), _rank(name, "scalar", goals, ()), natural_key(name))
    )


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
