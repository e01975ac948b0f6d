"""`define_metric`: what a metric is drawn over and how it is summarized, by name or by `prefix*`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from stepscope.wandb.errors import Error

_SUMMARIES = ("min", "max", "mean", "best", "last", "first", "copy", "none")
_GOALS: dict[str, Literal["min", "max"]] = {"minimize": "min", "maximize": "max"}


@dataclass(frozen=True)
class Metric:
    """What `define_metric` returns."""

    name: str
    step_metric: str | None = None
    step_sync: bool = False
    hidden: bool = False
    summaries: tuple[str, ...] = ()
    our_goal: Literal["min", "max"] | None = None

    @property
    def summary(self) -> tuple[str, ...] | None:
        return self.summaries or None

    @property
    def goal(self) -> str | None:
        return {"min": "minimize", "max": "maximize"}.get(self.our_goal or "")


def made(
    name: Any, step_metric: Any, step_sync: bool | None, hidden: bool | None, summary: str | None, goal: str | None
) -> Metric:
    """A metric's rule from the arguments; raises W&B's own errors."""
    if not isinstance(name, str) or not name:
        raise Error(f"define_metric() takes the name of a metric, not {name!r}")
    if "*" in name[:-1]:
        raise Error(f"define_metric({name!r}): a '*' is only allowed at the end, as in 'val/*'")
    step = step_metric.name if isinstance(step_metric, Metric) else step_metric
    if step is not None and not isinstance(step, str):
        raise Error(f"define_metric({name!r}): step_metric is the name of a metric, not a {type(step).__name__}")
    if goal is not None and goal[:3] not in ("min", "max"):
        raise Error(f"define_metric({name!r}): goal {goal!r} is not known; use 'minimize' or 'maximize'")
    return Metric(
        name=name,
        step_metric=step,
        step_sync=bool(step if step_sync is None else step_sync),
        hidden=bool(hidden),
        summaries=_summaries(name, summary or ""),
        our_goal=None if goal is None else "min" if goal.startswith("min") else "max",
    )


def _summaries(name: str, text: str) -> tuple[str, ...]:
    kinds = tuple(kind.strip().lower() for kind in text.split(",") if kind.strip())
    unknown = [kind for kind in kinds if kind not in _SUMMARIES]
    if unknown:
        raise Error(f"define_metric({name!r}): summary {unknown[0]!r} is not known; use {', '.join(_SUMMARIES)}")
    return kinds


def our_summary(metric: Metric) -> Literal["last", "min", "max", "mean", "first", "none"] | None:
    """The one summary that is stored: the first requested."""
    for kind in metric.summaries:
        if kind == "best":
            return metric.our_goal or "last"
        if kind == "copy":
            return "last"
        if kind in ("min", "max", "mean", "last", "first", "none"):
            return kind  # type: ignore[return-value]
    return None


class Rules:
    """All rules of a run; exact names take precedence over a `*`, and each name is looked up once."""

    def __init__(self) -> None:
        self._by_name: dict[str, Metric] = {}
        self._globs: list[Metric] = []
        self._found: dict[str, Metric | None] = {}
        self._last: dict[str, Any] = {}
        self._synced: set[str] = set()

    def add(self, metric: Metric) -> None:
        if metric.name.endswith("*"):
            self._globs.insert(0, metric)
        else:
            self._by_name[metric.name] = metric
        if metric.step_sync and metric.step_metric is not None:
            self._synced.add(metric.step_metric)
        self._found.clear()

    def of(self, name: str) -> Metric | None:
        if name not in self._found:
            fitting = (glob for glob in self._globs if name.startswith(glob.name[:-1]))
            self._found[name] = self._by_name.get(name) or next(fitting, None)
        return self._found[name]

    def __bool__(self) -> bool:
        return bool(self._by_name or self._globs)

    def complete(self, row: dict[str, Any]) -> None:
        """Add the last value of a step metric to a row that has a metric drawn over it but lacks the step itself."""
        if not self._synced:
            return
        for name in list(row):
            rule = self.of(name)
            step = rule.step_metric if rule is not None and rule.step_sync else None
            if step is not None and step not in row and step in self._last:
                row[step] = self._last[step]
        self._last.update({name: row[name] for name in self._synced if name in row})
