from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.record.watch.losses import LossCall
from stepscope.record.watch.origin import Origin

_RANGES = {
    "relu": (0.0, None), "relu_": (0.0, None), "sigmoid": (0.0, 1.0), "tanh": (-1.0, 1.0), "softplus": (0.0, None),
    "hardtanh": (-1.0, 1.0), "softmax": (0.0, 1.0), "relu6": (0.0, 6.0), "hardsigmoid": (0.0, 1.0), "exp": (0.0, None),
}  # fmt: skip
_MOVES = frozenset({"view", "reshape", "flatten", "squeeze", "unsqueeze", "contiguous", "to", "float", "getitem", "T"})
_LOSSES = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")


@rule("model.output-activation", severity="error", needs="steps, end", follows=("loss.swapped-args",))
def output_activation(run: Evidence) -> Iterator[Proof]:
    """The model ends in an activation whose range does not hold the targets.

    Why it matters: a ReLU never gives a negative number and a sigmoid none above 1. Targets out there cannot be
    reached, whatever the model learns, and the loss has a floor.

    What to do: leave the last activation out, scale its output, or scale the targets into its range.

    How it is found: what a regression loss reads comes straight from the activation, and the targets of several batches
    lie outside its range by more than a tenth of their own spread.

    Bad:
        model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1), nn.Sigmoid())
        loss = F.mse_loss(model(x), prices)
    Good:
        model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
        loss = F.mse_loss(model(x), prices)
    """
    for calls in run.losses.by_place(*_LOSSES):
        looked = [call for call in calls if call.look is not None and call.look.target_low is not None]
        outside = [call for call in looked if _outside(call) is not None]
        if len(outside) < 2 or len(outside) < 0.8 * len(looked):
            continue
        activation = _activation(outside[0])
        if activation is None:
            continue
        looks = [call.look for call in looked if call.look is not None]
        low = min(look.target_low for look in looks if look.target_low is not None)
        high = max(look.target_high for look in looks if look.target_high is not None)
        yield _proof(run, activation, outside[0], low, high)


def _activation(call: LossCall) -> Origin | None:
    if call.input is None:
        return None
    last = call.input.back_through(_MOVES)
    return last if last.op in _RANGES and last.requires_grad else None


def _outside(call: LossCall) -> str | None:
    """How the targets leave the range of the activation; None when they do not, or not by much."""
    activation = _activation(call)
    look = call.look
    if activation is None or look is None or look.target_low is None or look.target_high is None:
        return None
    low, high = _RANGES[activation.op]
    slack = 0.1 * max(look.target_high - look.target_low, 1e-12)
    if look.target_low < low - slack:
        return "below"
    return "above" if high is not None and look.target_high > high + slack else None


def _proof(run: Evidence, activation: Origin, call: LossCall, low: float, high: float) -> Proof:
    name = activation.op.rstrip("_")
    bottom, top = _RANGES[activation.op]
    within = f"from {bottom:g} up" if top is None else f"between {bottom:g} and {top:g}"
    module = activation.visit.module() if activation.visit is not None else None
    is_layer = module is not None and not list(module.parameters()) and not list(module.children())
    where = run.models.made_at(module) if is_layer else None
    return Proof(
        where=where or activation.place,
        message=f"the output goes through {name}, which gives values {within}, but the targets go from {low:.4g} to "
        f"{high:.4g}",
        label=f"{name} cannot reach them",
        evidence={"activation": name, "target_low": low, "target_high": high},
        fix=f"leave the {name} out of the last layer, or bring the targets into its range",
        related=[(call.place, "the loss compares them here")],
    )
