from __future__ import annotations

from collections.abc import Iterator

from stepscope.common.units import bytes_text
from stepscope.diagnose.rule import rule
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip, Trial

_PINNED_BYTES_PER_NS = 20.0
"""PCIe 4 x16 moves 20 to 26 GB/s out of pinned memory."""


@rule("perf.pageable-copies", needs="profile", device="gpu")
def pageable_copies(run: Measured) -> Iterator[Tip]:
    """Batches are copied to the device out of ordinary memory.

    Why it matters: the driver must first copy them into a pinned buffer of its own, and the host waits for that. From
    pinned memory the copy is two to five times faster and can run beside the training.

    What to do: `DataLoader(..., pin_memory=True)`, and `non_blocking=True` where the batch is moved.

    How it is found: the trace has copies "Pageable -> Device" in every step and the loader does not pin. The
    saving is their time, less what the same bytes take from pinned memory.

    Bad:
        DataLoader(dataset, batch_size=256, num_workers=8)
    Good:
        DataLoader(dataset, batch_size=256, num_workers=8, pin_memory=True)
    """
    gpu, loader = run.gpu, run.loader
    if gpu is None or loader.get("pin_memory"):
        return
    rows = gpu.copies("HtoD (Pageable")
    moved, took = gpu.copied_bytes(rows), gpu.per_step(rows)
    if moved < 100_000:
        return
    batches = [one for one in run.calls("to", "cuda", fetching=False) if one.get("target") not in (None, "cpu")]
    plain = [one for one in batches if one.get("pinned", 0) < 0.5 and not one.get("same") and not one.get("made")]
    took = max(took, run.of_look(sum(one["ns"] for one in plain)))  # the driver's own copy holds the host up
    saving = took - moved / (run.machine.pinned_bytes_per_ns or _PINNED_BYTES_PER_NS)
    yield Tip(
        where=run.where(loader, "made", "iterated"),
        message=f"{bytes_text(moved)} a step are copied to the device from memory that is not pinned",
        fix="pin_memory=True in the DataLoader, non_blocking=True in .to()",
        share=run.share(run.on_device(took)),
        saving_ns=run.on_device(max(0.0, saving)),
        how="the copies' time, less the same bytes from pinned memory",
        evidence={"copy_ms": round(took / 1e6, 3), "bytes": moved},
        part="copy",
        trial=Trial("loader", {"pin_memory": True}),
    )
