from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.edits import layers
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.starting_weights import place_of_start, stuck


@rule("init.zeros", severity="error", needs="steps, end", follows=("init.both-zero",))
def zeros(run: Evidence) -> Iterator[Proof]:
    """Weights start at zero, and with them all gradients: these layers never learn.

    Why it matters: a layer of zeros gives zeros, and hands back zero gradients to the layers before it; with zeros
    everywhere only the last bias moves.

    What to do: leave torch's own initialization in place, or use `nn.init.kaiming_uniform_`/`xavier_uniform_`. Zeros
    are for biases, and for the last layer of a residual branch.

    How it is found: weights were all zero when the model was first called; after three steps of their optimizer they
    are zero still and no gradient of theirs was ever anything but zero.

    Bad:
        nn.init.zeros_(layer.weight)
    Good:
        nn.init.kaiming_uniform_(layer.weight)
    """
    dead = stuck(run)
    if not dead:
        return
    yield Proof(
        where=place_of_start(dead[0]),
        message=f"{dead[0].name}{f' and {len(dead) - 1} more weights' if len(dead) > 1 else ''} started at zero and "
        "cannot leave it: all their gradients are zero",
        label="all zeros, with zero gradients",
        evidence={"weights": [start.name for start in dead[:10]], "count": len(dead)},
        edit=layers.initialised(place_of_start(dead[0]), "kaiming_uniform_"),
        fix="keep torch's default initialization, or use nn.init.kaiming_uniform_(weight)",
    )
