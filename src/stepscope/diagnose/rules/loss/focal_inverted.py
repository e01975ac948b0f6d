from __future__ import annotations

from collections.abc import Iterator

from stepscope.common.ops import RESHAPES
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.loss_sign import scaled_source
from stepscope.diagnose.loss_terms import constant_of, terms
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.origins import Origin
from stepscope.records.place import Place

_LOSSES = frozenset({"cross_entropy", "nll_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits"})
_PICKS = frozenset({"gather", "take_along_dim", "getitem"})
_LEAST = 1.2
_ENOUGH = 3


@rule("loss.focal-inverted", severity="error")
def focal_inverted(run: Evidence) -> Iterator[Proof]:
    """A focal loss weights each sample by its probability, not by what is missing to 1: easy samples count most.

    Why it matters: the weight `p ** gamma` is near 1 for samples that the model gets right and near 0 for those it gets
    wrong. Hard and rare samples are ignored, which is the opposite of what a focal loss is for.

    What to do: `(1 - p) ** gamma * cross_entropy`.

    How it is found: in at least three losses, the cross entropy of each sample is multiplied by a power above 1 of that
    sample's own probability, `exp(-cross_entropy)` or the softmax at its label, without the subtraction from 1.

    Bad:
        p = torch.exp(-ce)
        loss = (p**gamma * ce).mean()
    Good:
        loss = ((1 - p) ** gamma * ce).mean()
    """
    found: dict[Place, list[tuple[Origin, float]]] = {}
    for backward in run.steps.backwards:
        for term in () if backward.origin is None else terms(backward.origin, inside_reductions=True):
            for power, gamma in _inverted(term.origin):
                if power.place is not None:
                    found.setdefault(power.place, []).append((power, gamma))
    for place, powers in found.items():
        if len(powers) < _ENOUGH:
            continue
        gamma = powers[0][1]
        yield Proof(
            where=place,
            message="the weight of this focal loss grows with the probability of the right class: samples that the "
            "model already gets right count most, hard ones hardly at all",
            label=f"p ** {gamma:g}, not (1 - p) ** {gamma:g}",
            evidence={"gamma": gamma, "losses": len(powers)},
            fix=f"weight by (1 - p) ** {gamma:g}",
        )


def _inverted(product: Origin) -> Iterator[tuple[Origin, float]]:
    """(power, exponent) where the losses of single samples are multiplied by a power of their probability."""
    factors = list(_factors(product))
    losses = [one for one in factors if one.op in _LOSSES and one.shape]
    for power in factors if len(losses) == 1 else ():
        gamma = constant_of(power) if power.op in ("pow", "pow_") and len(power.inputs) == 1 else 2.0
        if power.op in ("pow", "pow_", "square") and gamma is not None and gamma > _LEAST:
            base = power.inputs[0].back_through(RESHAPES)
            if _is_probability(base, losses[0]):
                yield power, gamma


def _factors(origin: Origin, depth: int = 5) -> Iterator[Origin]:
    origin = origin.back_through(RESHAPES)
    if depth and origin.op in ("mul", "mul_", "multiply") and origin.inputs:
        for one in origin.inputs:
            yield from _factors(one, depth - 1)
    else:
        yield origin


def _is_probability(base: Origin, loss: Origin) -> bool:
    """`exp(-loss)`, or the softmax of the same logits at the label."""
    if base.op in ("exp", "exp_") and base.inputs:
        whole, factor = scaled_source(base.inputs[0])
        return factor == -1.0 and whole.back_through(RESHAPES) is loss
    if base.op not in _PICKS or len(base.inputs) < 2 or not loss.inputs:
        return False
    softmax = base.inputs[0].back_through(RESHAPES)
    logits = loss.inputs[0].back_through(RESHAPES)
    return softmax.op == "softmax" and bool(softmax.inputs) and softmax.inputs[0].back_through(RESHAPES) is logits
