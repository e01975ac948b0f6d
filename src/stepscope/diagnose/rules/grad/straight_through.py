from __future__ import annotations

from collections.abc import Iterator

from stepscope.common.ops import RESHAPES
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.origins import Origin

_STEPS = 3
_FAR, _NEAR = 2000, 200
_CHOICES = frozenset({
    "argmin", "argmax", "min", "max", "topk", "sort", "argsort", "round", "sign", "floor", "ceil", "trunc", "heaviside",
    "bernoulli", "multinomial", "gt", "ge", "lt", "le",
})  # fmt: skip


@rule("grad.straight-through", severity="error")
def straight_through(run: Evidence) -> Iterator[Proof]:
    """A straight-through estimator is the wrong way round: the value is the continuous one, the gradient the choice's.

    Why it matters: `q + (z - q).detach()` has the value of `z`, so nothing is quantized in training, and its gradient
    goes to `q`, so none reaches what made `z`.

    What to do: `z + (q - z).detach()`: the value of the choice, the gradient of the continuous tensor.

    How it is found: a tensor is added to a detached difference that takes it away again, and it was itself chosen from
    the other part of the difference by an operation without a gradient (`argmin`, `round`, a comparison).

    Bad:
        z_q = z_q + (z - z_q).detach()
    Good:
        z_q = z + (z_q - z).detach()
    """
    found: dict[object, list[Origin]] = {}
    for backward in list(run.steps.backwards)[: 4 * _STEPS]:
        for origin in backward.origin.ancestors(_FAR) if backward.origin is not None else ():
            if origin.op in ("add", "add_") and _is_reversed(origin):
                found.setdefault(origin.place, []).append(origin)
    for place, several in found.items():
        if place is None or (len(several) < _STEPS and not run.over):
            continue
        yield Proof(
            where=several[0].place,
            message="this has the value of the continuous tensor and the gradient of the one chosen from it: the "
            "straight-through estimator is the wrong way round",
            label="the chosen value cancels out",
            evidence={"times": len(several)},
            fix="exchange the two: z + (z_q - z).detach()",
        )


def _is_reversed(added: Origin) -> bool:
    if len(added.inputs) != 2:
        return False
    for chosen, detached in (added.inputs, added.inputs[::-1]):
        if detached.op not in ("detach", "detach_", "data") or not detached.inputs:
            continue
        difference = detached.inputs[0]
        if difference.op != "sub" or len(difference.inputs) != 2:
            continue
        continuous, taken = (one.back_through(RESHAPES) for one in difference.inputs)
        if taken is chosen.back_through(RESHAPES) and _is_chosen_from(taken, continuous):
            return True
    return False


def _is_chosen_from(chosen: Origin, continuous: Origin) -> bool:
    between = list(chosen.ancestors(_NEAR, through=lambda past: past is not continuous))
    return any(one is continuous for one in between) and any(one.op in _CHOICES for one in between)
