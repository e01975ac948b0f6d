from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.crash.dtypes import dtype_fault
from stepscope.diagnose.crash.provenance import MAKERS
from stepscope.diagnose.crash.turning_point import turning_point
from stepscope.diagnose.edits import tensors
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule


@rule("dtype.bce-int-target", severity="error", needs="crash")
def bce_int_target(run: Evidence) -> Iterator[Proof]:
    """A loss between numbers was given whole numbers as its target.

    Why it matters: `binary_cross_entropy` and its kind compute with the target and need it to be of the output's dtype.

    What to do: convert the target with `.float()`.

    Bad:
        loss = F.binary_cross_entropy_with_logits(out, y)             # y is int64
    Good:
        loss = F.binary_cross_entropy_with_logits(out, y.float())
    """
    crash = run.crash
    fault = None if crash is None else dtype_fault(crash)
    if crash is None or fault is None or fault.kind != "bce-int-target":
        return
    kind = fault.tensor.dtype
    made = turning_point(crash, fault.tensor, lambda dtype, axes: dtype == kind, *MAKERS, "one_hot", "long", "int")
    yield Proof(
        where=made or crash.site,
        message=f"the target of {fault.op} is {kind}, but the loss computes with it as a number",
        label=f"target: {kind} {list(fault.tensor.shape)}",
        evidence={"target": f"{kind} {list(fault.tensor.shape)}", "input": fault.other.dtype},
        edit=tensors.named_operand(crash.site, "target", ".float()"),
        fix="convert the target: .float()",
        related=[] if made is None else [(crash.site, "it fails here")],
    )
