from __future__ import annotations

from collections.abc import Iterator

from stepscope.common.ops import RESHAPES
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.loss_terms import constant_of, terms
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.origins import Origin
from stepscope.evidence.steps import Backward
from stepscope.records.place import Place

_LOSSES = frozenset({"cross_entropy", "nll_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits"})
_ENOUGH = 3
_NEAR = 1e-4
_APART = 0.02
_ANCESTORS = 3000


@rule("loss.mixup-swapped", severity="error")
def mixup_swapped(run: Evidence) -> Iterator[Proof]:
    """Two samples are mixed, and the weights of their labels are swapped.

    Why it matters: where the input is nine parts cat and one part dog, the loss asks for one part cat and nine parts
    dog. The model learns a bit of everything and trusts nothing it sees.

    What to do: the weight of a label is the share of its sample: with `x = lam * a + (1 - lam) * b`, the loss is
    `lam * ce(out, y_a) + (1 - lam) * ce(out, y_b)`.

    How it is found: in at least three steps the input of the model was a sum of a batch and the same batch in another
    order, with two factors that add up to 1, and the loss was a sum of two losses, one with the labels and one with the
    labels in that order, where each had the factor of the other one's sample.

    Bad:
        x = lam * a + (1 - lam) * a[order]
        loss = (1 - lam) * ce(net(x), y) + lam * ce(net(x), y[order])
    Good:
        loss = lam * ce(net(x), y) + (1 - lam) * ce(net(x), y[order])
    """
    found: dict[Place, list[tuple[float, Place | None]]] = {}
    right: set[Place] = set()
    for backward in run.steps.backwards:
        for where, share, weight, mixed in _mixed(backward):
            if abs(share - 0.5) < _APART:
                continue
            if abs(weight - share) < _NEAR:
                right.add(where)
            elif abs(weight - (1 - share)) < _NEAR:
                found.setdefault(where, []).append((share, mixed))
    for place, seen in found.items():
        if len(seen) < _ENOUGH or place in right:
            continue
        share, mixed = seen[-1]
        yield Proof(
            where=place,
            message=f"a sample that makes up {share:.0%} of the mixed input has {1 - share:.0%} of the loss: the "
            "weights of the two labels are swapped",
            label="each label has the other one's share",
            evidence={"steps": len(seen), "share": round(share, 4)},
            fix="swap the two factors: lam for the labels of the first batch, 1 - lam for those in the other order",
            related=[(mixed, "the inputs are mixed here")] if mixed is not None else [],
        )


def _mixed(backward: Backward) -> Iterator[tuple[Place, float, float, Place | None]]:
    """(line of the loss, share of the plain sample in the input, weight of its label, line that mixes)"""
    parts = [] if backward.origin is None else list(terms(backward.origin))
    losses = [one for one in parts if one.origin.op in _LOSSES and len(one.origin.inputs) >= 2]
    if len(losses) != 2 or abs(sum(one.factor for one in losses) - 1) > _NEAR or not losses[0].joins:
        return
    targets = [one.origin.inputs[1].back_through(RESHAPES) for one in losses]
    for plain, other in ((0, 1), (1, 0)):
        picked, order = _picked(targets[other])
        if order is None or picked is not targets[plain]:
            continue
        for past in losses[plain].origin.inputs[0].ancestors(_ANCESTORS):
            share = _share(past, order)
            place = losses[plain].joins[-1].place
            if share is not None and place is not None:
                yield place, share, losses[plain].factor, past.place
                return


def _picked(origin: Origin) -> tuple[Origin | None, Origin | None]:
    """(what, by which order) of `y[order]`."""
    if origin.op not in ("getitem", "index_select") or len(origin.inputs) != 2:
        return None, None
    return origin.inputs[0].back_through(RESHAPES), origin.inputs[1].back_through(RESHAPES)


def _share(mixed: Origin, order: Origin) -> float | None:
    """Of `lam * x + (1 - lam) * x[order]`: lam."""
    if mixed.op not in ("add", "add_") or len(mixed.inputs) != 2 or mixed.requires_grad:
        return None
    (one, first), (two, second) = map(_scaled, mixed.inputs)
    if one is None or two is None or abs(one + two - 1) > _NEAR:
        return None
    for share, plain, moved in ((one, first, second), (two, second, first)):
        picked, by = _picked(moved)
        if by is order and picked is plain:
            return share
    return None


def _scaled(origin: Origin) -> tuple[float | None, Origin]:
    """A number times a tensor."""
    origin = origin.back_through(RESHAPES)
    if origin.op not in ("mul", "mul_", "multiply"):
        return None, origin
    if len(origin.inputs) == 1:
        return constant_of(origin), origin.inputs[0].back_through(RESHAPES)
    for number, tensor in (origin.inputs[:2], origin.inputs[1::-1]):
        if not number.shape and number.value is not None and tensor.shape:
            return number.value, tensor.back_through(RESHAPES)
    return None, origin
