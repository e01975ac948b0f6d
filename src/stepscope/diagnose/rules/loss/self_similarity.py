from __future__ import annotations

from collections.abc import Iterator

from stepscope.common.ops import CASTS, RESHAPES
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.loss_terms import axes_of
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.origins import Origin
from stepscope.records.place import Place

_SCALING = CASTS | {"mul", "div", "mul_", "div_", "true_divide", "exp", "neg"}
_MASKING = frozenset({
    "masked_fill", "masked_fill_", "fill_diagonal_", "where", "setitem_", "masked_select", "getitem", "tril", "triu",
    "index_fill_", "scatter", "scatter_", "diagonal_scatter",
})  # fmt: skip


@rule("loss.self-similarity", severity="error")
def self_similarity(run: Evidence) -> Iterator[Proof]:
    """A contrastive loss compares every sample with itself.

    Why it matters: the similarity of a sample with itself is the largest there is. Left in the denominator it takes
    nearly all of the probability, and the loss cannot fall below a floor, however good the representation is.

    What to do: mask the diagonal before the softmax: `sim.fill_diagonal_(float("-inf"))` or
    `sim.masked_fill(torch.eye(n, dtype=torch.bool), -1e9)`.

    How it is found: the loss takes a softmax over the products of a set of vectors with itself, and nothing masks the
    diagonal between the two.

    Bad:
        sim = z @ z.t() / temperature
        loss = F.cross_entropy(sim, partner)
    Good:
        sim = (z @ z.t() / temperature).fill_diagonal_(float("-inf"))
        loss = F.cross_entropy(sim, partner)
    """
    found: dict[Place | None, list[tuple[Origin, Origin]]] = {}
    for call in list(run.losses.named("cross_entropy"))[:200]:
        if call.trains and call.input is not None and call.shapes["input"] == call.shapes["input"][::-1]:
            product = _own_product(call.input)
            if product is not None and call.shapes.get("target") == product.shape[:1]:
                found.setdefault(product.place, []).append((product, call.input))
    for backward in list(run.steps.backwards)[:20]:
        for origin in backward.origin.ancestors(400) if backward.origin is not None else ():
            product = _in_denominator(origin)
            if product is not None and product.requires_grad:
                found.setdefault(product.place, []).append((product, origin))
    for place, several in found.items():
        if place is None or (len(several) < 2 and not run.over):
            continue
        product, use = several[0]
        n = product.shape[0]
        yield Proof(
            where=place,
            message=f"the {n} x {n} similarities hold each sample's similarity with itself, and nothing masks them",
            label="the diagonal compares every sample with itself",
            evidence={"shape": list(product.shape), "times": len(several)},
            fix='mask the diagonal before the softmax: sim.fill_diagonal_(float("-inf"))',
            related=[(use.place, "the softmax counts them")] if use.place != place else [],
        )


def _own_product(origin: Origin) -> Origin | None:
    """The `z @ z.T` a matrix comes from, when nothing between the two can have masked it."""
    for _ in range(12):
        if origin.op in _MASKING or not origin.inputs:
            return None
        if origin.op in ("matmul", "mm", "einsum", "cosine_similarity", "cdist") and len(origin.inputs) == 2:
            first, second = (part.back_through(RESHAPES) for part in origin.inputs)
            square = len(origin.shape) == 2 and origin.shape[0] == origin.shape[1] > 2
            return origin if square and first is second and first.requires_grad else None
        if origin.op not in _SCALING or (len(origin.inputs) > 1 and any(part.shape for part in origin.inputs[1:])):
            return None
        origin = origin.inputs[0]
    return None


def _in_denominator(origin: Origin) -> Origin | None:
    """logsumexp or log_softmax over such a matrix, or the logarithm of a sum of its exponentials."""
    if origin.op in ("logsumexp", "log_softmax") and origin.inputs:
        return _own_product(origin.inputs[0])
    if origin.op == "log" and origin.inputs:
        below = origin.inputs[0].back_through(RESHAPES | {"add", "clamp"})
        if below.op == "sum" and axes_of(below) and below.inputs and below.inputs[0].op == "exp":
            return _own_product(below.inputs[0])
    return None
