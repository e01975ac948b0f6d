from __future__ import annotations

import itertools
from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.layer_gradients import layer_gradients
from stepscope.diagnose.rule import Proof, rule

_TINY = 1e-6
_ENOUGH = 8


@rule("grad.vanishing", severity="warning", follows=("grad.detached-needed", "grad.dead-relu", "init.*", "opt.no-step"))
def vanishing(run: Evidence) -> Iterator[Proof]:
    """The gradient shrinks from layer to layer until nothing is left for the first ones.

    Why it matters: the first layers get a millionth of the last layer's gradient, and keep their initial weights.

    What to do: ReLU or GELU instead of sigmoid or tanh, residual connections, normalization, a matching initialization.

    How it is found: in every observed backward, the gradient of the first layer was less than a millionth of that of
    the last one, relative to the weights, and it shrank over several layers in between.

    Bad:
        nn.Sequential(*[layer for _ in range(12) for layer in (nn.Linear(64, 64), nn.Sigmoid())])
    Good:
        nn.Sequential(*[layer for _ in range(12) for layer in (nn.Linear(64, 64), nn.ReLU())])
    """
    for model in run.models.present:
        layers = layer_gradients(run, model, _ENOUGH)
        if len(layers) < 4:
            continue
        first, last = layers[0], layers[-1]
        pairs = list(zip(first.sizes, last.sizes, strict=False))
        if any(low <= 0 or low > _TINY * high for low, high in pairs):
            continue
        between = [layer.sizes[0] for layer in layers]
        if sum(later > earlier for earlier, later in itertools.pairwise(between)) < len(layers) - 2:
            continue
        yield Proof(
            where=first.module.made,
            message=f"the gradient vanishes: {first.name} gets {first.sizes[0] / last.sizes[0]:.0e} of what "
            f"{last.name} gets",
            label=f"shrinks over {len(layers)} layers, in each of {len(pairs)} backwards",
            evidence={"layers": [layer.name for layer in layers], "gradient_to_weight": between},
            fix="use ReLU or GELU, residual connections or normalization layers",
        )
