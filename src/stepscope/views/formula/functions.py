"""The functions available in formulas: each takes columns of values and returns a column or one number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from stepscope.runs.points.smooth import smooth

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Function:
    """`each`: point by point · `reduce`: all points to one number · `along`: needs the order and the steps."""

    kind: Literal["each", "reduce", "along"]
    apply: Callable[..., Any]
    least: int = 1
    most: int = 1
    about: str = ""


def arity_words(function: Function) -> str:
    """The number of arguments, in words."""
    counts = str(function.least) if function.least == function.most else f"{function.least} or {function.most}"
    return f"{counts} argument{'' if counts == '1' else 's'}"


def _finite(reduce: Callable[[Floats], Any]) -> Callable[[Floats], float]:
    """The same over the finite values: a NaN at the start must not hide the whole line."""

    def of(values: Floats) -> float:
        usable = values[np.isfinite(values)]
        return float(reduce(usable)) if len(usable) else float("nan")

    return of


def _smoothed(kind: str) -> Callable[[Floats, npt.NDArray[np.int64], float], Floats]:
    def of(values: Floats, steps: npt.NDArray[np.int64], amount: float) -> Floats:
        if not 0 <= amount < (1 if kind == "ema" else 1e6):
            return np.full(len(values), np.nan)
        return smooth(kind, values, amount, steps)

    return of


def _either(pick: Callable[[Any, Any], Any], reduce: Callable[[Floats], Any]) -> Callable[..., Any]:
    """`min(a, b)` point by point, and `min(a)` over the whole run."""
    whole = _finite(reduce)
    return lambda first, *rest: pick(first, rest[0]) if rest else whole(np.atleast_1d(first))


def _diff(values: Floats, steps: npt.NDArray[np.int64]) -> Floats:
    return np.diff(values, prepend=np.nan) if len(values) else values


FUNCTIONS: dict[str, Function] = {
    "ema": Function("along", _smoothed("ema"), 2, 2, "exponential moving average; the weight of the past, 0 to 0.999"),
    "rolling": Function("along", _smoothed("mean"), 2, 2, "running mean; width in points"),
    "diff": Function("along", _diff, 1, 1, "change from the point before"),
    "cumsum": Function("along", lambda values, _: np.nancumsum(values), 1, 1, "sum so far"),
    "cummin": Function("along", lambda values, _: np.fmin.accumulate(values), 1, 1, "smallest so far"),
    "cummax": Function("along", lambda values, _: np.fmax.accumulate(values), 1, 1, "largest so far"),
    "step": Function("along", lambda values, steps: steps.astype(np.float64), 1, 1, "the steps of a metric"),
    "abs": Function("each", np.abs, about="absolute value"),
    "sqrt": Function("each", np.sqrt, about="square root"),
    "exp": Function("each", np.exp, about="exponential; exp(loss) is the perplexity"),
    "log": Function("each", np.log, about="natural logarithm"),
    "log2": Function("each", np.log2, about="logarithm to base 2"),
    "log10": Function("each", np.log10, about="logarithm to base 10"),
    "clip": Function("each", np.clip, 3, 3, "values clipped to a minimum and a maximum"),
    "min": Function("each", _either(np.minimum, np.min), 1, 2, "the smaller of two, or the smallest of all"),
    "max": Function("each", _either(np.maximum, np.max), 1, 2, "the larger of two, or the largest of all"),
    "mean": Function("reduce", _finite(np.mean), about="mean of all points"),
    "median": Function("reduce", _finite(np.median), about="median of all points"),
    "std": Function("reduce", _finite(np.std), about="standard deviation of all points"),
    "sum": Function("reduce", _finite(np.sum), about="sum of all points"),
    "first": Function("reduce", _finite(lambda values: values[0]), about="first finite value"),
    "last": Function("reduce", _finite(lambda values: values[-1]), about="last finite value"),
}
