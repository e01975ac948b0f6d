from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.forwards import MovingNorm
from stepscope.evidence.modes import ModeCall
from stepscope.evidence.modules import Module

_ENOUGH = 3
_LEARNED = 10
"""Batches after which statistics are worth keeping."""
_FAR = 0.5


@rule("mode.frozen-bn", severity="warning")
def frozen_bn(run: Evidence) -> Iterator[Proof]:
    """A frozen part keeps moving its batch norm statistics, because `train()` on the whole model reaches it too.

    Why it matters: its weights stay, but its batch norm normalizes by the batch and moves its running statistics with
    every one, so the features that were to be kept change.

    What to do: call `eval()` on the frozen part again after each `train()`, or let the model's own `train` do so.

    How it is found: no parameter of the part is trained, the script has called `eval()` on it, a later `train()` on a
    model around it put its batch norm back into training mode, and batches went through it like that in three steps.
    A frozen part that was never put into eval mode may be meant to follow the new data; it is reported where it had
    learned its statistics before and their mean has moved by half a standard deviation since.

    Bad:
        model.backbone.eval()
        for epoch in range(10):
            model.train()
    Good:
        for epoch in range(10):
            model.train()
            model.backbone.eval()
    """
    told: set[Any] = set()
    for norm in run.forwards.moving_norms:
        undone, whole = norm.mode, norm.mode.module
        meant = None if whole is None else _meant(run, norm)
        part = None if meant is None else meant.module
        if whole is None or meant is None or part is None or undone.place in told or _lasted(run, norm) < _ENOUGH:
            continue
        told.add(undone.place)
        yield _undone(run, norm, meant, part, whole)
    for norm in run.forwards.moving_norms:
        undone, whole, part = norm.mode, norm.mode.module, norm.frozen
        if whole is None or part is None or undone.place in told or _lasted(run, norm) < _ENOUGH:
            continue
        if norm.learned >= _LEARNED and norm.drift >= _FAR:
            told.add(undone.place)
            yield _drifted(norm, part, whole)


def _drifted(norm: MovingNorm, part: Module, whole: Module) -> Proof:
    """A frozen part that had learned its statistics, and loses them."""
    paths = {module: path for path, module in whole.named_modules()}
    return Proof(
        where=norm.mode.place,
        message=f"{paths[part]} is frozen, but this puts its batch norm into training mode: the running mean moves by "
        f"{norm.drift:.2g} standard deviations",
        label=f"{paths[norm.module]} is in training mode from here on",
        evidence={"part": paths[part], "drift": norm.drift, "batches_before": norm.learned},
        fix=f"call eval() on {paths[part]} after this line",
    )


def _undone(run: Evidence, norm: MovingNorm, meant: ModeCall, part: Module, whole: Module) -> Proof:
    """A frozen part that the script had put into eval mode."""
    undone = norm.mode
    paths = {module: path for path, module in whole.named_modules()}
    inside = set(part.modules())
    moving = [paths[one.module] for one in run.forwards.moving_norms if one.mode is undone and one.module in inside]
    return Proof(
        where=undone.place,
        message=f"{paths[part]} is frozen and was put into eval mode; "
        "this takes it out again, and its batch norm moves",
        label=f"{moving[0]} is in training mode from here on",
        evidence={"part": paths[part], "layers": moving[:12]},
        fix=f"call eval() on {paths[part]} again after this line",
        related=[(meant.place, "it is put into eval mode here")],
    )


def _meant(run: Evidence, norm: MovingNorm) -> ModeCall | None:
    """The first `eval()`, before the call that undid it, on a frozen part with this layer in it."""
    frozen = set() if norm.frozen is None else set(norm.frozen.modules())
    for call in run.modes.calls:
        if call is norm.mode:
            return None
        part = call.module if call.kind == "train" and not call.on else None
        if part is not None and part in frozen and part is not norm.mode.module and norm.module in part.modules():
            return call
    return None


def _lasted(run: Evidence, norm: MovingNorm) -> int:
    """How many backwards passed before another `train()` or `eval()` was called on the layer."""
    calls = run.modes.calls
    after = calls[calls.index(norm.mode) + 1 :]
    later = next((call for call in after if call.module is not None and norm.module in call.module.modules()), None)
    return (run.steps.backward_count if later is None else later.backwards) - norm.mode.backwards
