"""A finding's evidence, ready to draw: its numbers, and the run's metrics that show it.

A rule records its measurements (`losses`, `grad_norm_before`, a value per layer). Lists of numbers become sparklines,
values by name become bars. For rules about training behavior, the run's loss or gradient norm is shown with the step
marked; a wrong shape has no place on a curve.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from stepscope.runs.catalogue.main_metric import loss_likeness, main_metric

MAX_SERIES = 6
MAX_VALUES = 200
MAX_NAME = 200
MAX_METRICS = 2
_NOT_SERIES = ("shape", "shapes", "size", "sizes", "dims", "kernel", "stride", "padding", "axis", "steps", "epochs")
"""Suffixes of names whose lists are not values over time."""
_IN_WORDS = {"measured"}
"""A trial's gain, noise and number of steps are not values of one kind; the gain is described in words."""
_ABOUT_LOSS = {"amp", "autograd", "data", "eval", "grad", "init", "loss", "math", "metric", "mode", "num", "opt", "rl"}
"""Rule groups whose fault shows in the loss."""
_ABOUT_GRADIENTS = {"amp", "grad", "init", "num", "opt"}


class EvidenceSeries(msgspec.Struct):
    """Numbers of a finding: a sequence or, with `labels`, one per name."""

    name: str
    values: list[float | None]
    """None if not finite."""
    labels: list[str] = []


def evidence_series(evidence: Mapping[str, Any]) -> list[EvidenceSeries]:
    """The parts of the evidence that can be drawn.

    >>> evidence_series({"grad_norm": [1.9, 3.8, 5.8], "input_shape": [64, 3, 32], "steps": 3})
    [EvidenceSeries(name='grad norm', values=[1.9, 3.8, 5.8], labels=[])]
    >>> evidence_series({"ratio": {"fc1": 0.2, "fc2": 1e-9}})
    [EvidenceSeries(name='ratio', values=[0.2, 1e-09], labels=['fc1', 'fc2'])]
    """
    found = []
    for name, value in evidence.items():
        if name in _IN_WORDS:
            continue
        words = str(name)[:MAX_NAME].replace("_", " ")
        if isinstance(value, Mapping) and len(value) > 1 and all(map(_is_number, value.values())):
            named = list(value.items())[:MAX_VALUES]
            labels = [str(label)[:MAX_NAME] for label, _ in named]
            found.append(EvidenceSeries(words, [_finite(one) for _, one in named], labels))
        elif _is_line(words, value):
            found.append(EvidenceSeries(words, [_finite(one) for one in value[:MAX_VALUES]]))
    return found[:MAX_SERIES]


def _is_line(words: str, value: Any) -> bool:
    if not isinstance(value, (list, tuple)) or len(value) < 3 or not all(map(_is_number, value)):
        return False
    return words.lower().split(" ")[-1] not in _NOT_SERIES and any(_finite(one) is not None for one in value)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _finite(value: Any) -> float | None:
    try:
        number = float(value)
    except OverflowError:  # an integer too large for a float
        return None
    return number if math.isfinite(number) else None


class TellingMetrics(NamedTuple):
    """The series that show training faults; looked up once, as a run may have thousands of others."""

    loss: str | None = None
    grad_norm: str | None = None
    lr: str | None = None

    @classmethod
    def among(cls, names: Sequence[str]) -> TellingMetrics:
        """
        >>> TellingMetrics.among(["val/loss", "train/loss", "grad_norm", "system/cpu_percent"])
        TellingMetrics(loss='train/loss', grad_norm='grad_norm', lr=None)
        """
        own = tuple(name for name in names if not name.startswith("system/"))
        main = main_metric(own) if own else None
        leaves = {name.rpartition("/")[2].lower(): name for name in reversed(own)}
        return cls(
            loss=main if main is not None and loss_likeness(main) is not None else None,
            grad_norm=leaves.get("grad_norm") or leaves.get("gradient_norm"),
            lr=leaves.get("lr") or leaves.get("learning_rate"),
        )


def metrics_shown(rule: str, evidence: Mapping[str, Any], found: TellingMetrics) -> list[str]:
    """The run's series that show the fault.

    >>> found = TellingMetrics("train/loss", "grad_norm", "lr")
    >>> metrics_shown("opt.no-zero-grad", {}, found), metrics_shown("shape.linear-in", {"lr": 0.1}, found)
    (['train/loss', 'grad_norm'], [])
    """
    group = rule.partition(".")[0]
    if group not in _ABOUT_LOSS:
        return []
    about_lr = any(str(name).split("_")[0] == "lr" for name in evidence)
    wanted = [found.loss, found.grad_norm if group in _ABOUT_GRADIENTS else None, found.lr if about_lr else None]
    return [name for name in wanted if name is not None][:MAX_METRICS]
