from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.crash.batches import SmallBatch
from stepscope.diagnose.crash.crash import Crash
from stepscope.diagnose.crash.frames import several
from stepscope.diagnose.crash.provenance import MAKERS, made_by
from stepscope.diagnose.crash.sizes import size_fault
from stepscope.diagnose.crash.written_sizes import handed_in
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule
from stepscope.evidence.frame_values import HeldTensor
from stepscope.records.step import Site


@rule("shape.last-batch", severity="error", needs="crash")
def last_batch(run: Evidence) -> Iterator[Proof]:
    """The code expects full batches, but the last batch of the epoch is smaller.

    Why it matters: everything works until the end of the first epoch.

    What to do: take the size from the data (`x.size(0)`), or leave the last batch out with `drop_last=True`.

    How it is found: the loader's length leaves a remainder, the batch at hand has that many samples, and the full size
    plays a part in the operation that failed.

    Bad:
        ones = torch.ones(batch_size, 1)
    Good:
        ones = torch.ones(x.size(0), 1)
    """
    crash = run.crash
    fault = None if crash is None else size_fault(crash)
    if crash is None or fault is None or fault.kind != "last-batch":
        return
    small: SmallBatch = fault.facts["small"]
    where = handed_in(run.source, _maker(crash, small.usual)) or crash.site
    yield Proof(
        where=where,
        message=f"the last batch has {small.size} samples, but a size of {small.usual} is written down here",
        label=f"{small.usual} here, {small.size} in this batch",
        evidence={"batch": small.size, "usual": small.usual},
        fix="take the size from the batch (x.size(0)), or give the DataLoader drop_last=True",
        related=[(crash.site, "it fails here")] if where is not crash.site else [],
    )


def _maker(crash: Crash, usual: int) -> Site | None:
    """Where the tensor with the full batch's size was made."""
    found = crash.operands
    for _, tensor in found:
        if usual in tensor.shape and not tensor.requires_grad:
            step = made_by(crash, tensor, *MAKERS, "expand", "repeat")
            if step is not None:
                return step.site
    for layer in reversed(crash.layers):
        hidden = layer.frame.locals.get("hx")
        for state in several(hidden, "tuple") or (hidden,):
            if isinstance(state, HeldTensor) and usual in state.shape:
                step = made_by(crash, state, *MAKERS)
                if step is not None:
                    return step.site
    return None
