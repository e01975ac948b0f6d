from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from stepscope.diagnose import edits
from stepscope.diagnose.edits.modes import clipped
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.layer_gradients import layer_gradients
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.models import Model

_HUGE = 1e3


@rule(
    "grad.exploding",
    severity="warning",
    follows=("opt.no-zero-grad", "data.unscaled-input", "data.nan-input", "init.scale"),
)
def exploding(run: Evidence) -> Iterator[Proof]:
    """The gradient grows from layer to layer (or from time step to time step) until it is larger than the weights.

    Why it matters: one step then throws the weights away; the loss jumps to huge values or NaN.

    What to do: clip the gradients (`clip_grad_norm_`), start from smaller recurrent weights, use an LSTM or
    normalization layers.

    How it is found: from the first backward on, gradients are more than a thousand times larger than the weights they
    belong to, nothing clips them, and the loss explodes too.

    Bad:
        for t in range(100):
            h = torch.relu(recurrent(h) + inputs[:, t])
    Good:
        h = torch.tanh(recurrent(h) + inputs[:, t])
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    """
    if run.steps.backward_count < 2 or any(clip.parameters and not clip.empty for clip in run.gradient_clips.all):
        return
    losses = [b.loss for b in run.steps.backwards if b.accumulates and b.loss is not None][:40]
    if len(losses) < 2 or not _blows_up(losses):
        return
    for model in run.models.present:
        layers = layer_gradients(run, model, 1)
        worst = max(layers, key=lambda layer: layer.sizes[0], default=None)
        if worst is None or not math.isfinite(worst.sizes[0]) or worst.sizes[0] < _HUGE:
            continue
        least = min((layer.sizes[0] for layer in layers), default=0.0)
        backward = next(b for b in run.steps.backwards if b.accumulates)
        yield Proof(
            where=backward.place,
            message=f"the gradient explodes: that of {worst.name} is {worst.sizes[0]:.0e} times its weights",
            label="the loss goes " + " -> ".join(f"{loss:.3g}" for loss in losses[:3]),
            evidence={"gradient_to_weight": {layer.name: layer.sizes[0] for layer in layers}, "losses": losses[:8]},
            trials=_clips(backward.place, model),
            fix="clip after this line: clip_grad_norm_(model.parameters(), 1.0), and use smaller initial weights",
            related=[(worst.module.made, "the layer is made here")] if least else (),
        )


def _blows_up(losses: list[float]) -> bool:
    finite = [loss for loss in losses if math.isfinite(loss)]
    return len(finite) < len(losses) or max(finite) > 100 * abs(losses[0]) or abs(losses[0]) > 1e6


def _clips(backward: Any, model: Model) -> list[tuple[str, edits.Plan]]:
    made = model.module.made
    return [(f"max_norm={limit:g}", clipped(backward, made, f"{limit:g}")) for limit in (10.0, 1.0, 0.1)]
