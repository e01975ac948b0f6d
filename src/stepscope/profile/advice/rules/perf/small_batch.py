from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.rule import rule
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip


@rule("perf.small-batch", needs="profile", device="gpu", severity="info")
def small_batch(run: Measured) -> Iterator[Tip]:
    """The batch is smaller than the device's memory allows, and the device is not busy.

    Why it matters: a larger batch gives each kernel more to do for the same number of kernels, so that idle
    time and starting costs are spread over more samples.

    What to do: double the batch until memory is used or the time per sample stops falling; scale the learning
    rate with it.

    How it is found: less than half of the device's memory was ever in use, and the device is idle a fifth of
    the step or more, outside data loading. For each sample that idle time is the most that can be gained;
    `stepscope tune-batch` measures it.

    Bad:
        DataLoader(dataset, batch_size=16)     # 3 of 80 GB in use
    Good:
        DataLoader(dataset, batch_size=128)
    """
    gpu, device = run.gpu, run.device
    peak, total = int(device.get("peak_reserved_bytes") or device.get("peak_bytes") or 0), device.get("total_bytes", 0)
    if gpu is None or not run.step_ns or not peak or not total or peak / total >= 0.5:
        return
    idle = run.idle_beside_data_ns
    if run.share(idle) < 0.2:
        return
    size = run.loader.get("batch_size")
    yield Tip(
        where=run.where(run.loader, "made", "iterated"),
        message=f"the batch{f' of {size}' if size else ''} uses {peak / total:.0%} of the device's memory",
        fix=f"a larger batch: {total / max(peak, 1):.0f}x as much memory is available",
        share=run.share(run.on_device(idle)),
        saving_ns=run.on_device(idle),
        at_most=True,
        how="the idle time for each sample",
        evidence={"try_with": "stepscope tune-batch", "peak_bytes": peak, "total_bytes": total, "batch_size": size},
        part="idle",
    )
