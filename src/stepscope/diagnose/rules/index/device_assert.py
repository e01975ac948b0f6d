from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.crash.ranges import DEVICE_STOPPED
from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule

_EXPLAINED = ("index.embedding-range", "index.vocab-off-by-one", "index.label-range", "loss.bce-out-of-range")


@rule("index.device-assert", severity="error", needs="crash", follows=_EXPLAINED)
def device_assert(run: Evidence) -> Iterator[Proof]:
    """The GPU stopped at an index outside its range, and reported it late.

    Why it matters: kernels run behind the program. The line of the traceback is where the stop was noticed, often far
    behind its cause, and the device answers nothing more in this process: whatever is done after it fails too.

    What to do: look at what is used as an index: ids for an embedding, labels for a loss, the index of `gather`,
    `index_select` or `x[index]`. `CUDA_LAUNCH_BLOCKING=1` makes the traceback name the right line; on a CPU the message
    names the index as well.

    Bad:
        loss = F.cross_entropy(logits, labels)     # labels 1 ... 10 for 10 outputs, on a GPU
    Good:
        loss = F.cross_entropy(logits, labels - 1)
    """
    crash = run.crash
    if crash is None or not crash.says(DEVICE_STOPPED):
        return
    seen = run.indices.broken
    if seen is None or seen.which != "index":
        yield Proof(
            where=crash.site,
            message="the device failed on an index out of range, some operations before this line",
            label="noticed here, not caused here",
            evidence={"error": crash.text.split("\n")[0][:200]},
            fix="rerun with CUDA_LAUNCH_BLOCKING=1, or on a CPU, to stop at the line that caused it",
        )
        return
    yield Proof(
        where=crash.site if seen.place is None else seen.place.site,
        message=f"{seen.op} was given indices {seen.low:.0f} to {seen.high:.0f} for an axis of size {seen.size}",
        label=f"indices must be 0 to {seen.size - 1}",
        evidence={"op": seen.op, "smallest": seen.low, "largest": seen.high, "size": seen.size},
        fix=f"keep the indices between 0 and {seen.size - 1}",
        related=[(crash.site, "it was noticed here")],
    )
