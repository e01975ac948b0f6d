from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.losses import LossCall

if TYPE_CHECKING:
    from stepscope.diagnose.crash.dtypes import DtypeFault

_SLACK = 0.02
_CALLS = 2


@rule("dtype.ce-float-target", severity="error", needs="crash, steps")
def ce_float_target(run: Evidence) -> Iterator[Proof]:
    """`cross_entropy` was given labels that are not class numbers (int64, one per sample).

    Why it matters: it takes class numbers as int64 of shape [N], or probabilities as floats of shape [N, classes].
    Anything else fails, and floats of the right shape are silently treated as probabilities.

    What to do: give class numbers: `y.long()`, `y.squeeze(1)`, or `y.argmax(1)` for one-hot rows.

    Bad:
        loss = F.cross_entropy(logits, y)            # y is float32
    Good:
        loss = F.cross_entropy(logits, y.long())
    """
    crash = run.crash
    if crash is None:
        yield from _silent(run)
        return
    from stepscope.diagnose.crash.dtypes import dtype_fault
    from stepscope.diagnose.crash.provenance import MAKERS
    from stepscope.diagnose.crash.turning_point import turning_point

    fault = dtype_fault(crash)
    if fault is None or fault.kind != "ce-float-target":
        return
    kind, shape = fault.tensor.dtype, list(fault.tensor.shape)
    wide = fault.tensor.ndim if fault.tensor.dtype == "int64" else 0
    made = turning_point(
        crash,
        fault.tensor,
        lambda dtype, axes: dtype == kind and axes >= wide,
        *(*MAKERS, "float", "to", "one_hot", "int", "reshape", "view", "unsqueeze"),
    )
    yield Proof(
        where=made or crash.site,
        message=f"the labels are {kind} of shape {shape}; {fault.op} takes int64 class numbers, one per sample",
        label=f"labels: {kind} {shape}",
        evidence={"target": f"{kind} {shape}", "input": f"{fault.other.dtype} {list(fault.other.shape)}"},
        edit=tensors.named_operand(crash.site, "target", ".long()")
        if _mend(fault).startswith("convert the labels")
        else None,
        fix=_mend(fault),
        related=[] if made is None else [(crash.site, "it fails here")],
    )


def _silent(run: Evidence) -> Iterator[Proof]:
    """Floats treated as probabilities whose rows do not add up to 1: labels of several classes, or plain numbers."""
    for calls in run.losses.by_place("cross_entropy"):
        sums = [
            c.look.target_sums for c in calls if c.look is not None and _is_soft(c) and c.look.target_sums is not None
        ]
        off = [one for one in sums if abs(one[0] - 1) > _SLACK or abs(one[1] - 1) > _SLACK]
        masked = [one for one in off if abs(one[0]) < _SLACK and abs(one[1] - 1) <= _SLACK]
        if len(off) < _CALLS or len(off) < len(sums) or len(masked) == len(off):
            continue
        yield Proof(
            where=calls[0].place,
            message=f"the float labels are interpreted as probabilities, but their rows sum to {_span(off[0])}",
            label=f"labels {list(calls[0].shapes['target'])}, rows add up to {_span(off[0])}",
            evidence={"row_sums": [list(one) for one in off[:4]], "calls": len(off)},
            fix="several labels per sample need binary_cross_entropy_with_logits; one needs class numbers (int64)",
            severity="warning",
        )


def _is_soft(call: LossCall) -> bool:
    target = call.target
    same = call.shapes.get("target") == call.shapes.get("input") and len(call.shapes.get("target", ())) > 1
    return target is not None and target.is_floating and same


def _span(sums: tuple[float, float]) -> str:
    return f"{sums[0]:.3g}" if abs(sums[0] - sums[1]) < _SLACK else f"{sums[0]:.3g} to {sums[1]:.3g}"


def _mend(fault: DtypeFault) -> str:
    target, given = fault.tensor.shape, fault.other.shape
    if target == given and len(target) > 1:
        return "pass class indices: target.argmax(1)"
    cast = "" if fault.tensor.dtype == "int64" else ".long()"
    if len(target) == len(given) and target[1:2] == (1,):
        return f"pass one number per sample: target.squeeze(1){cast}"
    return f"convert the labels: target{cast or '.long()'}"
