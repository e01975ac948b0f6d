"""Which parameters a metric depends on, and how: the data of *Parameters > Importance*."""

from __future__ import annotations

import threading
import weakref
from collections import OrderedDict
from collections.abc import Hashable, Sequence
from typing import Literal

import msgspec
import numpy as np

from stepscope.runs.catalogue.catalogue import Catalogue
from stepscope.views.compare.statistics import holm
from stepscope.views.context import Context
from stepscope.views.parameters.columns import ParameterColumn, column_of, is_log, parameter_columns
from stepscope.views.parameters.model import Floats, fit, missing_packages
from stepscope.views.parameters.parameters import Chosen, ParametersRequest, chosen_runs
from stepscope.views.parameters.rank import draws, relation
from stepscope.views.route import route

FEWEST = 10
"""With fewer runs no model is fitted."""
MAX_RUNS = 5000
MAX_PARAMETERS = 40
_KEPT = 32

_kept: weakref.WeakKeyDictionary[Catalogue, OrderedDict[Hashable, Importance]] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


class Effect(msgspec.Struct):
    """The model's prediction with the parameter at each value, all others as in the runs."""

    x: list[float]
    y: list[float]


class ParameterImportance(msgspec.Struct):
    key: str
    label: str
    kind: str
    """number, bool or text"""
    runs: int
    """Number of runs with a finite metric that have this parameter."""
    correlation: float | None
    """Spearman's rank correlation; for text with more than two values the root of epsilon squared of ranks, without a
    sign.
    """
    signed: bool
    """False if `correlation` has no direction."""
    low: float | None
    """The 95% interval of `correlation`, from resampled runs."""
    high: float | None
    chance: float | None
    """How often a correlation this strong comes up by chance, corrected for the number of parameters."""
    importance: float | None
    """The fraction of the metric's variance that this parameter explains alone, by Optuna's fANOVA."""
    effect: Effect | None


class Importance(msgspec.Struct):
    metric: str | None
    stat: str
    log: bool
    """The model is of the metric's logarithm; effects are of the metric itself."""
    runs: int
    """Number of runs with a finite metric: the basis of everything here."""
    left_out: int
    """Runs whose metric is NaN or infinite."""
    unfinished: int
    """Runs that are excluded because they did not finish."""
    verdict: Literal["sound", "few", "nothing", "none", "missing"]
    """few: too few runs for a model; nothing: the model explains nothing; none: no metric, or no parameter differs;
    missing: a package that the model needs is not installed.
    """
    needed: list[str]
    """The packages that are missing."""
    r2: float | None
    """R² of the model on out-of-bag runs."""
    parameters: list[ParameterImportance]
    """Most important first; without a model by the size of the correlation."""


@route("POST", "/api/importance")
def importance(ctx: Context, request: ParametersRequest) -> Importance:
    """Correlation of each parameter with the metric, and its importance in a model of it."""
    chosen = chosen_runs(ctx, request)
    entries = chosen.entries[:MAX_RUNS]
    asked = (chosen.metric, chosen.stat, chosen.unfinished, tuple((entry.id, entry.version) for entry in entries))
    # One at a time: pages with the same request share one answer, and others would only slow each other down.
    with _lock:
        known = _kept.setdefault(ctx.catalogue, OrderedDict())
        if asked not in known:
            known[asked] = _importance(ctx, chosen)
        known.move_to_end(asked)
        while len(known) > _KEPT:
            known.popitem(last=False)
        return known[asked]


def _importance(ctx: Context, chosen: Chosen) -> Importance:
    answer = Importance(chosen.metric, chosen.stat, False, 0, 0, chosen.unfinished, "none", [], None, [])
    if chosen.field is None:
        return answer
    entries = chosen.entries[:MAX_RUNS]
    ctx.catalogue.prefetch(entries, [chosen.field])
    metric = column_of(chosen.field, [entry.value(chosen.field) for entry in entries])
    answer.left_out = len(metric.broken)
    usable = [entry for entry, value in zip(entries, metric.values, strict=True) if value is not None]
    truth = np.array([value for value in metric.values if value is not None], np.float64)
    answer.runs = len(usable)
    answer.log = is_log(truth.tolist()) and bool((truth > 0).all())
    columns = parameter_columns(usable).columns[:MAX_PARAMETERS]
    if not columns:
        return answer
    weights = draws(len(usable))
    answer.parameters = [_related(column, truth, weights) for column in columns]
    for one, chance in zip(answer.parameters, holm([one.chance for one in answer.parameters]), strict=True):
        one.chance = chance
    if len(usable) < FEWEST:
        answer.verdict = "few"
    elif np.ptp(truth) == 0:
        answer.verdict = "nothing"
    elif needed := missing_packages():
        answer.verdict, answer.needed = "missing", needed
    else:
        _model(answer, columns, np.log10(truth) if answer.log else truth)
    answer.parameters.sort(key=lambda one: (-(one.importance or 0.0), -abs(one.correlation or 0.0)))
    return answer


def _related(column: ParameterColumn, truth: Floats, weights: Floats) -> ParameterImportance:
    there = [place for place, value in enumerate(column.values) if value is not None]
    x = np.array([column.values[place] for place in there], np.float64)
    names = len(column.names) if column.kind == "text" else 0
    found = relation(x, truth[there], weights[:, there], names)
    return ParameterImportance(
        key=column.key,
        label=column.label,
        kind=column.kind,
        runs=len(there),
        correlation=None if found is None else found.value,
        signed=names <= 2,
        low=None if found is None else found.low,
        high=None if found is None else found.high,
        chance=None if found is None else found.chance,
        importance=None,
        effect=None,
    )


def _model(answer: Importance, columns: Sequence[ParameterColumn], target: Floats) -> None:
    model = fit(columns, target)
    answer.r2 = model.r2
    if not model.importances:
        answer.verdict = "nothing"
        return
    answer.verdict = "sound"
    for one, share, (values, expected) in zip(answer.parameters, model.importances, model.effects, strict=True):
        one.importance = share
        one.effect = Effect(x=values.tolist(), y=(10**expected if answer.log else expected).tolist())
