"""Evaluate a formula on the series of one run.

Two metrics with different steps are joined at the steps of the one with fewer points; the other contributes its last
value at or before each step. Everything is computed from all points: a chart downsamples the result, not the input.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.errors import NotFound, UsageError
from stepscope.runs.points.series import Series
from stepscope.views.formula.functions import FUNCTIONS
from stepscope.views.formula.parse import Binary, Call, Name, Negate, Node, Number

Floats = npt.NDArray[np.float64]
CONSTANTS = {"pi": float(np.pi), "e": float(np.e), "inf": float("inf"), "nan": float("nan")}
_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "%": np.mod,
    "^": np.power,
}


@dataclass(frozen=True)
class Column:
    """Values at steps: a metric, or a result computed from metrics."""

    steps: npt.NDArray[np.int64]
    times: Floats
    values: Floats

    def of(self, values: Any) -> Column:
        return Column(self.steps, self.times, np.asarray(values, np.float64))

    def at(self, kept: npt.NDArray[Any]) -> Column:
        return Column(self.steps[kept], self.times[kept], self.values[kept])


Value = Column | float


@dataclass(frozen=True)
class Names:
    """What names refer to in one run: its metrics first, then its config."""

    metrics: frozenset[str]
    config: Mapping[str, Any]
    series: Callable[[str], Series]

    def value(self, name: Name) -> Value:
        """The metric or number of a name; an unquoted `loss/baseline` divides if no metric has that name."""
        known = self._known(name.text, name.quoted)
        if known is None and not name.quoted:
            known = self._quotient(name.text)
        if known is None:
            raise NotFound(f"this run has no metric or number {name.text!r}; check the name, or quote it")
        return known

    def _known(self, text: str, quoted: bool) -> Value | None:
        if text in self.metrics:
            found = self.series(text)
            return Column(found.steps, found.times, found.values)
        key = text if quoted else text.removeprefix("config.")
        for spelling in (key, key.replace(".", "/")):
            value = self.config.get(spelling)
            if isinstance(value, (int, float)):
                return float(value)
        return None if quoted else CONSTANTS.get(text)

    def _quotient(self, text: str) -> Value | None:
        cut = text.rfind("/")
        if cut < 0:
            return None
        below: Value | None = _plain_number(text[cut + 1 :])
        if below is None:
            below = self._known(text[cut + 1 :], False)
        above = self._known(text[:cut], False)
        if above is None:
            above = self._quotient(text[:cut])
        return None if above is None or below is None else _binary("/", above, below)


def _plain_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def evaluate(node: Node, names: Names) -> Value:
    """The value of a tree: a column, or one number."""
    if isinstance(node, Number):
        return node.value
    if isinstance(node, Name):
        return names.value(node)
    with np.errstate(all="ignore"):
        if isinstance(node, Negate):
            return _binary("*", -1.0, evaluate(node.part, names))
        if isinstance(node, Binary):
            return _binary(node.operator, evaluate(node.left, names), evaluate(node.right, names))
        return _call(node, [evaluate(one, names) for one in node.arguments])


def _binary(operator: str, left: Value, right: Value) -> Value:
    with np.errstate(all="ignore"):
        return _each(_OPERATORS[operator], [left, right])


def _call(node: Call, arguments: list[Value]) -> Value:
    function = FUNCTIONS[node.function]
    if function.kind == "each":
        return _each(function.apply, arguments)
    first, *rest = arguments
    if not isinstance(first, Column):
        raise UsageError(f"{node.function} needs a metric, not the number {first:g}; write, for example, mean(loss)")
    if function.kind == "reduce":
        return float(function.apply(first.values))
    if any(isinstance(one, Column) for one in rest):
        raise UsageError(
            f"{node.function} takes a number after the metric, not another metric; write, for example, ema(loss, 0.9)"
        )
    return first.of(function.apply(first.values, first.steps, *rest))


def _each(apply: Callable[..., Any], arguments: list[Value]) -> Value:
    columns = [one for one in arguments if isinstance(one, Column)]
    if not columns:
        return float(apply(*(np.float64(one) for one in arguments if not isinstance(one, Column))))
    base = min(columns, key=lambda one: len(one.steps))
    met = [_met(one, base.steps) if isinstance(one, Column) else None for one in arguments]
    there = np.ones(len(base.steps), bool)
    for one in met:
        if one is not None:
            there &= one >= 0
    base = base.at(there)
    given = [
        one if not isinstance(one, Column) or at is None else one.values[at[there]]
        for one, at in zip(arguments, met, strict=True)
    ]
    answer = apply(*given)
    return float(answer) if np.ndim(answer) == 0 else base.of(answer)


def _met(column: Column, steps: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The point of a column that applies at each step; -1 before its first."""
    if len(column.steps) == len(steps) and bool((column.steps == steps).all()):
        return np.arange(len(steps))
    found: npt.NDArray[np.int64] = np.searchsorted(column.steps, steps, side="right") - 1
    return found
