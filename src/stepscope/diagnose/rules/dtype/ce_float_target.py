from __future__ import annotations

from collections.abc import Iterator

import torch

from stepscope.diagnose.crash.dtypes import DtypeFault, dtype_fault, source_of
from stepscope.diagnose.crash.provenance import MAKERS
from stepscope.diagnose.crash.tensors import short
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("dtype.ce-float-target", severity="error", needs="crash")
def ce_float_target(run: Evidence) -> Iterator[Proof]:
    """`cross_entropy` was given labels that are not class numbers (int64, one per sample).

    Why it matters: it takes class numbers as int64 of shape [N], or probabilities as floats of shape [N, classes].
    Anything else fails, and floats of the right shape are taken for probabilities without a word.

    What to do: give class numbers: `y.long()`, `y.squeeze(1)`, or `y.argmax(1)` for one-hot rows.

    Bad:
        loss = F.cross_entropy(logits, y)            # y is float32
    Good:
        loss = F.cross_entropy(logits, y.long())
    """
    crash = run.crash
    fault = None if crash is None else dtype_fault(crash)
    if crash is None or fault is None or fault.kind != "ce-float-target":
        return
    kind, shape = short(fault.tensor.dtype), list(fault.tensor.shape)
    made = source_of(crash, fault.tensor, *MAKERS, "float", "to", "one_hot", "int")
    yield Proof(
        where=crash.site,
        message=f"the labels are {kind} of shape {shape}; {fault.op} takes int64 class numbers, one per sample",
        label=f"labels: {kind} {shape}",
        evidence={"target": f"{kind} {shape}", "input": f"{short(fault.other.dtype)} {list(fault.other.shape)}"},
        fix=_mend(fault),
        related=[] if made is None else [(made.site, f"the labels become {kind} here")],
    )


def _mend(fault: DtypeFault) -> str:
    target, given = fault.tensor.shape, fault.other.shape
    if target == given and len(target) > 1:
        return "give class numbers: target.argmax(1)"
    cast = "" if fault.tensor.dtype == torch.int64 else ".long()"
    if len(target) == len(given) and target[1:2] == (1,):
        return f"give one number per sample: target.squeeze(1){cast}"
    return f"convert the labels: target{cast or '.long()'}"
