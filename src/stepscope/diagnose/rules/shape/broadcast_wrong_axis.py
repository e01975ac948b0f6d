from __future__ import annotations

from collections.abc import Iterator

from stepscope.common.ops import CASTS, ELEMENTWISE, MATMULS, NORMS, PICKS, REDUCTIONS
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.loss_terms import axes_of
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.origins import PARAMETER, Origin
from stepscope.records.dtypes import is_floating

_DRAWN = frozenset({"randint", "multinomial", "argmax", "long"})
_TABLES = MATMULS | {"cdist", "outer", "ger", "corrcoef", "cov"}
_THROUGH = ELEMENTWISE | CASTS | {"rsub", "reciprocal", "cos", "sin"}


@rule("shape.broadcast-wrong-axis", severity="warning", follows=("loss.broadcast",))
def broadcast_wrong_axis(run: Evidence) -> Iterator[Proof]:
    """One value for each sample is broadcast along the features, because there are as many features as samples.

    Why it matters: (N,) and (N, N) line up at the last axis. The value of sample 3 scales feature 3 of every sample,
    and nothing fails until the batch size changes.

    What to do: add the axis: `scale[:, None] * x`, or `scale.view(-1, 1)`.

    How it is found: a vector with one value for each sample (picked by an index for each, or reduced over the
    features) meets a square matrix of samples that is not a table of pairs, and something reads the result.

    Bad:
        noisy = alpha[t].sqrt() * x          # (64,) and (64, 64)
    Good:
        noisy = alpha[t].sqrt()[:, None] * x
    """
    for found in run.broadcasts.all:
        if found.kind != "square":
            continue
        vector, matrix = (found.first, found.second) if len(found.first.shape) == 1 else (found.second, found.first)
        if not _is_one_for_each_row(vector) or not _is_of_samples(matrix):
            continue
        rows = vector.shape[0]
        yield Proof(
            where=found.place,
            message=f"one value for each of {rows} samples is spread along the {rows} features: ({rows},) lines up "
            f"with the last axis of ({rows}, {rows})",
            label="the values of the samples scale the columns",
            evidence={"shapes": [list(found.first.shape), list(found.second.shape)], "calls": found.count},
            fix="add the missing axis: values[:, None]",
        )


def _is_one_for_each_row(vector: Origin) -> bool:
    """By how it was made: an index for each sample, or a reduction over the features."""
    for past in vector.ancestors(40, through=lambda one: one.op.rstrip("_") in _THROUGH):
        if past.tags & PARAMETER and not past.inputs:
            return False
        if past.op in ("getitem", "index_select", "gather", "take") or past.op in PICKS:
            index = past.inputs[-1] if len(past.inputs) > 1 else None
            if index is not None and index.shape == vector.shape and not is_floating(index.dtype):
                return _is_drawn(index)
        if past.op in REDUCTIONS | NORMS and past.inputs and len(past.inputs[0].shape) == 2:
            return axes_of(past, 2) == (1,)
    return False


def _is_drawn(index: Origin) -> bool:
    source = index.back_through(CASTS)
    return source.op in _DRAWN or source.kind == "data"


def _is_of_samples(matrix: Origin) -> bool:
    """Rows of data, or of noise like it: not the scores of all pairs."""
    past = list(matrix.ancestors(60, through=lambda one: one.op.rstrip("_") in _THROUGH))
    return not any(one.op in _TABLES or (one.tags & PARAMETER and not one.inputs) for one in past)
