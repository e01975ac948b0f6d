from __future__ import annotations

from collections.abc import Iterator

from stepscope.common.units import bytes_text
from stepscope.diagnose.rule import rule
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip


@rule("perf.memory-near-limit", needs="profile", device="gpu", severity="info")
def memory_near_limit(run: Measured) -> Iterator[Tip]:
    """The device's memory is almost full.

    Why it matters: the next longer batch ends the training; before that, the allocator gives its cached memory
    back and asks again, and each time the device stops.

    What to do: `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`, activation checkpointing, mixed precision, a
    smaller batch with accumulation.

    How it is found: more than 92% of the device's memory was reserved, or the allocator had to give memory back
    to go on.

    Bad:
        batch_size = 96      # 79 of 80 GB
    Good:
        batch_size = 80      # and torch.utils.checkpoint for the blocks
    """
    device = run.device
    reserved, total = int(device.get("peak_reserved_bytes", 0)), int(device.get("total_bytes", 0))
    retries = int(device.get("alloc_retries", 0))
    if not total or not reserved or (reserved / total <= 0.92 and not retries):
        return
    spare = int(device.get("peak_bytes", 0)) / reserved
    said = f"; the allocator started over {retries} times" if retries else ""
    yield Tip(
        where=None,
        message=f"{bytes_text(reserved)} of the device's {bytes_text(total)} are in use{said}",
        fix="expandable_segments:True" if spare < 0.8 else "activation checkpointing, or a smaller batch",
        share=0.0,
        saving_ns=0,
        severity="warning" if retries else "info",
        evidence={
            "reserved_bytes": reserved,
            "total_bytes": total,
            "retries": retries,
            "gain": "no out-of-memory error",
        },
        part="memory",
    )
