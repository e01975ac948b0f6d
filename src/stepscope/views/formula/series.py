"""A formula as a series: a chart accepts `= 1 - val/acc` wherever it accepts a metric."""

from __future__ import annotations

from difflib import get_close_matches
from functools import lru_cache

import msgspec
import numpy as np

from stepscope.errors import NotFound, QueryError, UsageError
from stepscope.runs.points.series import Series
from stepscope.runs.read.folder import RunFolder
from stepscope.views.context import Context
from stepscope.views.formula.evaluate import Column, Names, evaluate
from stepscope.views.formula.parse import Node, names_in, parse_formula
from stepscope.views.route import route

MARK = "="
MAX_RUNS = 1000


class FormulaRequest(msgspec.Struct):
    text: str
    """The formula, with or without the leading `=`."""
    runs: list[str] = []


class FormulaCheck(msgspec.Struct):
    error: str | None = None
    """What is wrong with it; None if it can be drawn."""
    position: int | None = None
    """The offending character, counted from 0."""


def is_formula(key: str) -> bool:
    return key.startswith(MARK)


@lru_cache(256)
def read_formula(key: str) -> Node:
    """The tree of a key such as `= 1 - val/acc`."""
    return parse_formula(key.removeprefix(MARK))


def series_named(folder: RunFolder, key: str, rank: int | None = None) -> Series:
    """A metric of the run by its name, even one that begins with `=`; else a formula evaluated on its metrics."""
    if not is_formula(key) or key in folder.metrics():
        return folder.series(key, rank)
    names = Names(frozenset(folder.metrics()), folder.config, lambda name: folder.series(name, rank))
    value = evaluate(read_formula(key), names)
    column = value if isinstance(value, Column) else _level(folder, value, rank)
    return Series(key, column.steps, column.times, column.values, rank=rank or 0, run=folder.id, start=folder.created)


def _level(folder: RunFolder, value: float, rank: int | None) -> Column:
    """One number as a horizontal line, from the first to the last step of the run's first metric."""
    metrics = folder.metrics()
    if not metrics:
        raise NotFound("this run has logged no metric, so a constant has no steps to be drawn over")
    whole = folder.series(metrics[0], rank)
    ends = whole[np.array([0, -1])] if len(whole) else whole
    return Column(ends.steps, ends.times, np.full(len(ends), value))


@route("POST", "/api/formula")
def check_formula(ctx: Context, request: FormulaRequest) -> FormulaCheck:
    """Whether a formula is valid, and whether the runs have the names it uses."""
    try:
        tree = read_formula(request.text)
    except QueryError as error:
        shift = 1 if is_formula(request.text) else 0
        return FormulaCheck(error.message, error.position + shift)
    entries = [ctx.catalogue.entry(run) for run in request.runs[:MAX_RUNS]]
    metrics = frozenset(name for entry in entries for name in entry.metrics.names)
    config = {key: value for entry in entries for key, value in entry.config.items()}
    blank = Series("", [0], [0.0], [1.0])
    names = Names(metrics, config, lambda _: blank)
    if not entries:
        return FormulaCheck()
    for name in names_in(tree):
        try:
            names.value(name)
        except NotFound:
            shift = 1 if is_formula(request.text) else 0
            near = get_close_matches(name.text, [*metrics, *config], 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            words = f"none of the runs has a metric or a config number {name.text!r}{hint}"
            return FormulaCheck(words, name.start + shift)
    try:
        evaluate(tree, names)
    except UsageError as error:
        return FormulaCheck(str(error))
    return FormulaCheck()
