from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule

_ENOUGH = 5


@rule("grad.dead-relu", severity="warning", follows=("num.*", "opt.lr-too-high", "data.unscaled-input", "init.*"))
def dead_relu(run: Evidence) -> Iterator[Proof]:
    """Units of a ReLU layer are zero for every sample, so they pass no gradient and never recover.

    Why it matters: behind a layer that is dead as a whole nothing learns; the model predicts a constant.

    What to do: check the initialization of the biases and the learning rate; a leaky ReLU lets some gradient through.

    How it is found: over at least five batches no unit of the layer was ever above zero (a warning), or fewer than one
    in ten (info).

    Bad:
        nn.init.constant_(layer.bias, -10)
    Good:
        nn.init.zeros_(layer.bias)
    """
    for one in run.activations.all.values():
        if not one.op.startswith("relu") or one.calls < _ENOUGH or one.idle is None or len(one.idle) < 4:
            continue
        if one.dead <= 0.9 or (one.dead < 1 and not run.over):
            continue
        all_of_them = one.dead == 1.0
        what = "every unit" if all_of_them else f"{one.dead:.0%} of the units"
        yield Proof(
            where=one.place,
            message=f"{what} of this ReLU layer is zero for every sample"
            + (": nothing before it can learn" if all_of_them else ""),
            label=f"zero in {one.calls} batches",
            evidence={"dead": one.dead, "units": len(one.idle), "batches": one.calls, "module": one.path},
            fix="start biases at zero, use a lower learning rate, or a leaky ReLU",
            severity=None if all_of_them else "info",
        )
        if all_of_them:
            return  # what comes after a dead layer is dead too
