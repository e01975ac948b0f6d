from __future__ import annotations

import math
from collections.abc import Iterator

from stepscope.diagnose.edits import layers
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.starting_weights import place_of_start
from stepscope.evidence.losses import LossCall
from stepscope.evidence.weight_init import InitialWeight

_LARGE = 4.0
_REGRESSIONS = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
_LAYERS = ("Linear", "Conv1d", "Conv2d", "Conv3d")


@rule("init.scale", severity="warning", needs="steps, end", follows=("data.unscaled-input",))
def scale(run: Evidence) -> Iterator[Proof]:
    """The weights start far too large: the first predictions are wild and the first loss huge.

    Why it matters: a layer should keep the size of what passes through it. With weights that are ten times too large
    each layer makes it ten times larger; the training starts with saturated outputs and exploding gradients.

    What to do: leave torch's own initialization in place, or scale by the number of inputs: `nn.init.kaiming_normal_`.

    How it is found: a layer's weights times the root of its inputs come to more than 4 (about 1 is right), and the
    first loss shows it: a cross-entropy far above the logarithm of the number of classes, or predictions thirty times
    larger than the targets.

    Bad:
        nn.init.normal_(layer.weight, std=1.0)
    Good:
        nn.init.kaiming_normal_(layer.weight)
    """
    large = [start for start in run.weight_init.weights if _is_large(start)]
    first = next((call for call in run.losses.calls if call.trains and call.step == 0), None)
    effect = None if first is None or not large else _effect(first)
    if effect is None:
        return
    worst = max(large, key=lambda start: start.gain)
    yield Proof(
        where=place_of_start(worst),
        message=f"the weights start too large (std {worst.std:.3g} in {worst.name}, where about "
        f"{worst.std / worst.gain:.2g} is right): {effect}",
        label=f"{worst.gain:.3g} times too large",
        evidence={"gains": {start.name: round(start.gain, 2) for start in large[:10]}, "effect": effect},
        trials=[
            (f"std={value:.2g}", layers.initialised(place_of_start(worst), "normal_", f", std={value:.2g}"))
            for value in (worst.std / worst.gain, worst.std / worst.gain / 3, worst.std / worst.gain / 10)
        ],
        fix=f"nn.init.kaiming_normal_(weight), or std={worst.std / worst.gain:.2g}",
    )


def _is_large(start: InitialWeight) -> bool:
    loaded = start.owner is not None and start.owner.loaded
    return start.step == 0 and start.type in _LAYERS and start.gain > _LARGE and not loaded


def _effect(call: LossCall) -> str | None:
    if call.name == "cross_entropy" and call.value is not None and call.reduction == "mean":
        shape = call.shapes.get("input", ())
        classes = shape[1] if len(shape) > 1 else 0
        if classes > 1 and call.value > 3 * math.log(classes) + 2:
            return f"the first loss is {call.value:.4g}, where {math.log(classes):.3g} is chance"
    look = call.look
    if call.name in _REGRESSIONS and look is not None and look.target_low is not None:
        wanted = max(abs(look.target_low), abs(look.target_high or 0.0), 1e-12)
        got = max(abs(look.low), abs(look.high))
        if got > 30 * wanted:
            return f"the first predictions go up to {got:.3g}, the targets to {wanted:.3g}"
    if call.name == "binary_cross_entropy_with_logits" and call.value is not None and call.value > 5:
        return f"the first loss is {call.value:.4g}, where 0.69 is chance"
    return None
