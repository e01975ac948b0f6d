from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.edits import layers
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.starting_weights import place_of_start, stuck
from stepscope.evidence.weight_init import InitialWeight


@rule("init.both-zero", severity="error", needs="steps, end")
def both_zero(run: Evidence) -> Iterator[Proof]:
    """Two factors of a product both start at zero, so neither gets a gradient.

    Why it matters: the gradient of `A @ B` with respect to A is B, and the other way round; from zero and zero there is
    no way out. A low-rank adapter or a factorisation started like this never does anything.

    What to do: start one factor at random and the other at zero.

    How it is found: two weights of the same module (or of modules beside each other) were all zero when the model was
    first called, are zero after three steps, and their gradients were always zero, while other weights are not.

    Bad:
        self.a = nn.Parameter(torch.zeros(d, r))
        self.b = nn.Parameter(torch.zeros(r, d))
    Good:
        self.a = nn.Parameter(torch.randn(d, r) * 0.01)
        self.b = nn.Parameter(torch.zeros(r, d))
    """
    dead = stuck(run)
    if len(dead) < 2 or len(dead) % 2 or not _is_product(dead):
        return
    first, second = dead[0], dead[1]
    yield Proof(
        where=place_of_start(second),
        message=f"{first.name} and {second.name} both start at zero, so neither ever gets a gradient",
        label="zero times zero: no gradient for either",
        evidence={"weights": [start.name for start in dead[:10]]},
        edit=layers.initialised(place_of_start(second), "normal_", ", std=0.01"),
        fix=f"start one of them at random: nn.init.normal_({first.name}, std=0.01)",
        related=[(place_of_start(first), "the other factor")],
    )


def _is_product(dead: list[InitialWeight]) -> bool:
    """Factors: plain parameters or tables, or two layers side by side without activation or bias, as in an adapter."""
    if all(start.type not in ("Linear", "Conv1d", "Conv2d", "Conv3d") for start in dead):
        return True
    parents: dict[str, int] = {}
    for start in dead:
        parent = start.path.rpartition(".")[0]
        parents[parent] = parents.get(parent, 0) + 1
        if start.owner is not None and "bias" in start.owner.own:
            return False
    return all(count == 2 for count in parents.values())
