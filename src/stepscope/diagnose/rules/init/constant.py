from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.edits import layers
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.diagnose.starting_weights import alike, place_of_start


@rule("init.constant", severity="error", needs="steps, end", follows=("init.zeros", "init.both-zero"))
def constant(run: Evidence) -> Iterator[Proof]:
    """All units of a layer start with the same weights, and so they always stay the same.

    Why it matters: units with the same weights get the same gradient. However wide the layer is, it works like one
    unit.

    What to do: start from random weights (torch's own, or `nn.init.xavier_uniform_`).

    How it is found: the weights had one single value when the model was first called; after three steps they have
    moved, and all rows still are exactly the same, and so are the rows of the gradient.

    Bad:
        nn.init.constant_(layer.weight, 0.1)
    Good:
        nn.init.xavier_uniform_(layer.weight)
    """
    same = alike(run)
    if not same:
        return
    first = same[0]
    units = first.parameter.shape[0]
    value = 0.0 if first.constant is None else first.constant
    yield Proof(
        where=place_of_start(first),
        message=f"all {units} units of {first.path or first.name} started with the weight {value:g} and are the same "
        "still: they get the same gradient",
        label=f"{units} units that act as one",
        evidence={"weights": [start.name for start in same[:10]], "value": value, "units": units},
        edit=layers.initialised(place_of_start(first), "xavier_uniform_"),
        fix="start from random weights: nn.init.xavier_uniform_(weight)",
    )
