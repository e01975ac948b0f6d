from __future__ import annotations

from collections.abc import Iterator

from stepscope.common.ops import CONSTANTS, ELEMENTWISE, NOISE, NORMS
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.loss_terms import reduces_all, source
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.origins import PARAMETER, Origin
from stepscope.records.place import Place

_MADE_UP = CONSTANTS | NOISE
_WHOLE = NORMS | {"dist"}


@rule("math.sum-over-batch", severity="warning", follows=("loss.broadcast",))
def sum_over_batch(run: Evidence) -> Iterator[Proof]:
    """A value that should be one per sample is reduced over the whole batch first.

    Why it matters: multiplying each sample's label or weight with one number for the whole batch loses which sample the
    number belongs to. The loss depends on the batch as a whole, and its size grows with it.

    What to do: reduce only over the features: `.sum(dim=1)`, or `reduction="none"`, and take the mean at the end.

    How it is found: a sum, mean or norm over all axes of a batch is multiplied with a tensor that has one value for
    each sample of that batch, and the product is averaged into the loss.

    Bad:
        distance = ((a - b) ** 2).sum()          # one number
        loss = (same * distance).mean()          # same: one label per pair
    Good:
        distance = ((a - b) ** 2).sum(dim=1)
        loss = (same * distance).mean()
    """
    found: dict[Place | None, list[tuple[Origin, Origin]]] = {}
    reduced = {c.result for c in run.losses.calls if c.result is not None and c.reduction in ("mean", "sum")}
    for backward in list(run.steps.backwards)[:20]:
        if backward.origin is None:
            continue
        for product in backward.origin.ancestors(300, through=_goes_on):
            pair = _mixed(product, reduced)
            if pair is not None:
                found.setdefault(pair[0].place, []).append((pair[0], product))
    for place, pairs in found.items():
        if place is None or len(pairs) < 2:
            continue
        whole, product = pairs[0]
        rows = product.shape[0]
        yield Proof(
            where=place,
            message=f"{whole.op} reduces the whole batch to one number, which is then multiplied with {rows} values, "
            "one per sample",
            label=f"{list(whole.inputs[0].shape)} becomes a single number here",
            evidence={"reduced": list(whole.inputs[0].shape), "multiplied_with": list(product.shape)},
            fix='reduce over the features only: dim=1 (or reduction="none"), and take the mean at the end',
            related=[(product.place, "one value per sample")],
        )


def _goes_on(origin: Origin) -> bool:
    return origin.op in ELEMENTWISE or reduces_all(origin) or origin.op in ("stack", "cat")


def _mixed(product: Origin, reduced: set[Origin]) -> tuple[Origin, Origin] | None:
    """A single number made from a whole batch, times one value for each sample that nothing is learned about."""
    if product.op not in ("mul", "mul_") or len(product.inputs) != 2 or len(product.shape) not in (1, 2):
        return None
    first, second = product.inputs
    number, given = (first, second) if not first.shape else (second, first)
    if number.shape or not number.requires_grad or given.requires_grad or given.tags & PARAMETER:
        return None
    if len(given.shape) == 2 and given.shape[1] != 1:
        return None
    if source(given).op in _MADE_UP:
        return None
    rows = given.shape[0]
    for one in number.ancestors(60, through=lambda past: past.op in ELEMENTWISE):
        whole = reduces_all(one) or one in reduced or (one.op in _WHOLE and not one.shape)
        if whole and one.inputs and one.inputs[0].shape[:1] == (rows,) and rows > 2:
            return one, source(given)
    return None
