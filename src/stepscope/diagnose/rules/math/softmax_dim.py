from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.loss_terms import where_applied
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.contractions import Crossing
from stepscope.evidence.origins import Origin

_SCALING = frozenset({
    "mul", "div", "mul_", "div_", "true_divide", "add", "masked_fill", "masked_fill_", "sub", "where", "clamp", "float",
    "to", "contiguous", "view", "reshape", "transpose", "permute", "tanh", "type_as", "unsqueeze", "squeeze", "dropout",
})  # fmt: skip
_PRODUCTS = frozenset({"matmul", "bmm", "einsum", "baddbmm"})


@rule("math.softmax-dim", severity="error")
def softmax_dim(run: Evidence) -> Iterator[Proof]:
    """Attention weights are normalized along one axis and added up along another.

    Why it matters: the weights of one query must add up to 1 over the keys. A softmax over the queries, the heads or
    the batch gives weights that add up to anything, and lets samples or positions compete that have nothing in common.

    What to do: take the softmax over the axis that is summed over next: the last one of `(batch, heads, query, key)`.

    How it is found: each axis is followed from the softmax to the product that uses the weights. It adds up along an
    axis that was not normalized; the sums of the weights along it, which should be 1, are measured.

    Bad:
        weights = scores.softmax(dim=1)      # (batch, query, key)
        out = weights @ values
    Good:
        weights = scores.softmax(dim=-1)
        out = weights @ values
    """
    for crossing in run.contractions.all:
        made = crossing.made
        if made.op != "softmax" or (crossing.calls < 2 and not run.over):
            continue
        if not _is_attention(crossing) and not _is_pooling(crossing):
            continue
        rank = len(made.shape)
        low, high = crossing.sums or (0.0, 0.0)
        shape = ", ".join(map(str, made.shape))
        sums = f"; the weights add up to {low:.2g} to {high:.2g} there, not 1" if crossing.sums else ""
        yield Proof(
            where=where_applied(run, made),
            message=f"softmax normalizes axis {crossing.axis} of ({shape}), but the weights are added up along axis "
            f"{crossing.used}",
            label=f"axis {crossing.axis} of ({shape}){sums}",
            evidence={
                "axis": crossing.axis,
                "used_axis": crossing.used,
                "shape": list(made.shape),
                "sums": [low, high],
            },
            edit=tensors.dim(where_applied(run, made), -1 if crossing.used == rank - 1 else crossing.used),
            fix=f"use dim={-1 if crossing.used == rank - 1 else crossing.used}",
            related=[(crossing.place, "the weights are used here")],
        )


def _is_attention(crossing: Crossing) -> bool:
    """The scores are products of two things that depend on the data: queries and keys, not fixed centers."""
    if crossing.how != "product" or not crossing.made.inputs or len(crossing.made.shape) < 3:
        return False
    scores: Origin = crossing.made.inputs[0].back_through(_SCALING)
    return scores.op in _PRODUCTS and all(part.kind != "parameter" for part in scores.inputs)


def _is_pooling(crossing: Crossing) -> bool:
    """Weights over the first axis, used along another: a pooling over the batch by mistake."""
    return crossing.how in ("sum", "product") and crossing.axis == 0 and _has_rows(crossing.made)


def _has_rows(made: Origin) -> bool:
    """It is computed inside a model whose input and output have as many rows: each row is a sample."""
    visit = made.visit
    if visit is None:
        return False
    root = visit.root
    rows = made.shape[0]
    return (
        rows > 1
        and bool(root.shapes_in and root.shapes_out)
        and root.shapes_in[0][:1] == (rows,)
        and root.shapes_out[0][:1] == (rows,)
    )
