from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from stepscope.common.ops import VIEWS
from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.origins import Origin

_RANGES = {
    "relu": (0.0, None), "relu_": (0.0, None), "sigmoid": (0.0, 1.0), "tanh": (-1.0, 1.0), "softplus": (0.0, None),
    "hardtanh": (-1.0, 1.0), "softmax": (0.0, 1.0), "relu6": (0.0, 6.0), "hardsigmoid": (0.0, 1.0), "exp": (0.0, None),
}  # fmt: skip
_LOSSES = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
_ON_SCORES = ("cross_entropy", "binary_cross_entropy_with_logits", "multi_margin_loss", "multilabel_soft_margin_loss")
_CUTS = frozenset({"relu", "relu_", "relu6"})


@rule("model.output-activation", severity="error", needs="steps, end", follows=("loss.swapped-args",))
def output_activation(run: Evidence) -> Iterator[Proof]:
    """The model ends in an activation whose range does not contain the targets.

    Why it matters: a ReLU never gives a negative number and a sigmoid none above 1. Targets out there cannot be
    reached, whatever the model learns, and the loss has a floor.

    What to do: leave the last activation out, scale its output, or scale the targets into its range.

    How it is found: what a regression loss (torch's, or a difference written by hand) reads comes straight from the
    activation, and the targets of several batches lie outside its range by more than a tenth of their own spread. Or a
    loss on raw scores reads the output of a ReLU: a score below zero, "not this class", has no gradient.

    Bad:
        model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1), nn.Sigmoid())
        loss = F.mse_loss(model(x), prices)
    Good:
        model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
        loss = F.mse_loss(model(x), prices)
    """
    for seen in _compared(run).values():
        outside = [one for one in seen if _is_outside(one)]
        if len(outside) >= 2 and len(outside) >= 0.8 * len(seen):
            low, high = min(one.low for one in seen), max(one.high for one in seen)
            yield _proof(run, outside[0], low, high)
    yield from _cut_scores(run)


def _cut_scores(run: Evidence) -> Iterator[Proof]:
    """Scores that a loss turns into probabilities itself, with the negative ones cut off before."""
    for calls in run.losses.by_place(*_ON_SCORES):
        cut = [call for call in calls if (one := _activation(call.input)) is not None and one.op in _CUTS]
        if len(cut) < 2 or len(cut) < 0.8 * len(calls):
            continue
        call, activation = cut[0], _activation(cut[0].input)
        if activation is not None:
            yield Proof(
                where=_made_at(activation),
                message=f"the scores go through {activation.op.rstrip('_')} before {call.name}: none can be negative, "
                "and those at 0 get no gradient",
                label="negative scores are cut off here",
                evidence={"activation": activation.op.rstrip("_"), "loss": call.name, "calls": len(cut)},
                fix="remove the activation from the last layer",
                related=[(call.place, "the loss takes raw scores")],
            )


def _made_at(activation: Origin) -> Any:
    """Where the layer was made that applies it, or the line that does."""
    module = None if activation.visit is None else activation.visit.module
    is_layer = module is not None and not module.own and not module.children
    return (module.made if module is not None and is_layer else None) or activation.place


@dataclass(frozen=True)
class _Compared:
    """An activation whose output a loss compares with targets of this range."""

    activation: Origin
    low: float
    high: float
    place: Any


def _compared(run: Evidence) -> dict[Any, list[_Compared]]:
    """By the line of the loss: those of torch's functions, and differences written by hand that reach a loss."""
    found: dict[Any, list[_Compared]] = {}
    for call in (call for calls in run.losses.by_place(*_LOSSES) for call in calls):
        look, activation = call.look, _activation(call.input)
        if activation is not None and look is not None and look.target_low is not None:
            high = look.target_low if look.target_high is None else look.target_high
            found.setdefault(call.place, []).append(_Compared(activation, look.target_low, high, call.place))
    written = [one for one in run.manual_losses.all if _activation(one.prediction) is not None]
    plain = _averaged(run) if written else set()
    for one in written:
        activation = _activation(one.prediction)
        if activation is not None and id(one.result) in plain and _is_last(activation):
            found.setdefault(one.place, []).append(_Compared(activation, one.low, one.high, one.place))
    return found


def _averaged(run: Evidence) -> set[int]:
    """Differences that a loss squares (or takes the size of) and averages, with nothing else between: no likelihood of
    an action drawn around the output, which divides and weighs."""
    found: set[int] = set()
    for backward in list(run.steps.backwards)[:8]:
        for origin in backward.origin.ancestors(500) if backward.origin is not None else ():
            sized = origin.inputs[0] if origin.op in ("mean", "sum") and origin.inputs else None
            if sized is not None and sized.op in ("pow", "square", "abs", "mul") and len(set(sized.inputs)) == 1:
                found.add(id(sized.inputs[0]))
    return found


def _is_last(activation: Origin) -> bool:
    """Whether the activation ends a model: a difference inside one compares nothing."""
    root = None if activation.visit is None else activation.visit.root
    return root is not None and any(output.back_through(VIEWS) is activation for output in root.outputs)


def _activation(origin: Origin | None) -> Origin | None:
    last = None if origin is None else origin.back_through(VIEWS)
    return last if last is not None and last.op in _RANGES and last.requires_grad else None


def _is_outside(one: _Compared) -> bool:
    """Whether the targets leave the range of the activation, by more than a little."""
    low, high = _RANGES[one.activation.op]
    slack = 0.1 * max(one.high - one.low, 1e-12)
    return one.low < low - slack or (high is not None and one.high > high + slack)


def _proof(run: Evidence, one: _Compared, low: float, high: float) -> Proof:
    activation = one.activation
    name = activation.op.rstrip("_")
    bottom, top = _RANGES[activation.op]
    within = f"from {bottom:g} up" if top is None else f"between {bottom:g} and {top:g}"
    return Proof(
        where=_made_at(activation),
        message=f"the output goes through {name}, which gives values {within}, but the targets go from {low:.4g} to "
        f"{high:.4g}",
        label=f"{name} cannot reach them",
        evidence={"activation": name, "target_low": low, "target_high": high},
        edit=tensors.left_out(_made_at(activation)),
        fix=f"leave the {name} out of the last layer, or scale the targets to its range",
        related=[(one.place, "the loss compares them here")],
    )
