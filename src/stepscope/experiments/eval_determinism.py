"""Does the model in evaluation mode give the same output twice?"""

from __future__ import annotations

import linecache
from types import FrameType
from typing import Any

import torch

from stepscope import events
from stepscope.evidence.experiments import Outcome
from stepscope.experiments.experiment import Trial, experiment
from stepscope.experiments.not_checked import NotChecked
from stepscope.record.arguments import tensors_in
from stepscope.record.observers.own_frames import own_place

_DROPOUTS = frozenset((
    "dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout", "rrelu",
    "scaled_dot_product_attention",
))  # fmt: skip
_DRAWS = frozenset((
    "rand", "randn", "randint", "rand_like", "randn_like", "randint_like", "normal", "normal_", "randperm", "bernoulli",
    "bernoulli_", "uniform_", "multinomial", "poisson", "exponential_", "gumbel_softmax",
))  # fmt: skip


@experiment("eval-determinism")
def eval_determinism(trial: Trial) -> Outcome:
    """The same input twice. Dropout that ignores `eval()` is suspicious; noise that the model draws itself is not."""
    node = trial.tape.model_call
    if node is None:
        raise NotChecked("no model with parameters was called on the way to the loss")
    copies = trial.copied()
    model = copies.module_of(node).eval()
    seen = _Draws()
    stop = events.follow(seen)
    try:
        if not events.is_followed():
            raise NotChecked("code is compiled here, so what draws random numbers cannot be seen")
        with torch.no_grad():
            args, kwargs = copies.arguments(node)
            first = model(*args, **kwargs)
    finally:
        stop()
    with torch.no_grad():
        args, kwargs = copies.arguments(node)
        second = model(*args, **kwargs)
    gap = differing(tensors_in(first), tensors_in(second))
    if not gap:
        return Outcome.passed(f"{type(model).__name__} gave the same output twice")
    stays_on = [name for name, part in model.named_modules() if part.training]
    if stays_on:
        return Outcome.passed(f"not the same, but {stays_on[0]} stays in training mode by its own choice")
    if seen.dropout is not None:
        file, line, name = seen.dropout
        return Outcome.suspicious(
            f"{name} still acts after eval(), at line {line}", file=file, line=line, op=name, gap=gap
        )
    if seen.draws:
        return Outcome.passed(f"not the same, but the model draws random numbers itself ({seen.draws[0]})")
    return Outcome.suspicious(f"two answers of {type(model).__name__} differ by {gap:.2g}", gap=gap)


def differing(first: list[Any], second: list[Any]) -> float:
    """The maximum difference between two lists of tensors; infinite if their structure differs."""
    if [tensor.shape for tensor in first] != [tensor.shape for tensor in second]:
        return float("inf")
    gaps = [0.0]
    for one, other in zip(first, second, strict=True):
        if one.numel() and not torch.equal(one.nan_to_num(), other.nan_to_num()):
            wide = (one.detach().double() - other.detach().double()) if not one.is_complex() else (one - other).abs()
            gaps.append(float(wide.abs().nan_to_num().max()) or float("inf"))
    return max(gaps)


class _Draws:
    """Records what draws random numbers, and active dropout; an `events.Follower`."""

    who = "looking for random numbers"
    paused = 0
    under_modes = True

    def __init__(self) -> None:
        self.draws: list[str] = []
        self.dropout: tuple[str, int, str] | None = None

    def begin(self, plan: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], frame: FrameType) -> None:
        name = getattr(function, "__name__", "")
        if name in _DRAWS:
            self.draws.append(name)
        elif name in _DROPOUTS and self.dropout is None and _acts(name, args, kwargs or {}):
            self._note(name, frame)

    def end(self, begun: Any, result: Any) -> None:
        """Nothing to do when an operation starts."""

    def fail(self, begun: Any, error: BaseException) -> None:
        """Nor when one raises."""

    def _note(self, name: str, frame: FrameType) -> None:
        place = own_place(frame)
        site = None if place is None else place.site
        if site is None:
            return
        text = "".join(
            linecache.getline(site.file, line) for line in range(site.line, (site.end_line or site.line) + 1)
        )
        if "training=True" in text.replace(" ", ""):
            self.draws.append(f"{name} with training=True")
        else:
            self.dropout = (site.file, site.line, name)


def _acts(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    if name == "scaled_dot_product_attention":
        return float(kwargs.get("dropout_p", args[4] if len(args) > 4 else 0.0) or 0.0) > 0
    training = kwargs.get("training", args[2] if len(args) > 2 else True)
    return bool(training) and (name == "rrelu" or float(kwargs.get("p", args[1] if len(args) > 1 else 0.5) or 0.0) > 0)
