from __future__ import annotations

import math
from collections.abc import Iterator

from stepscope.diagnose.rule import rule
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip


@rule("perf.few-blocks", needs="profile", device="gpu", severity="info")
def few_blocks(run: Measured) -> Iterator[Tip]:
    """Kernels are too small to fill the device.

    Why it matters: a kernel with fewer blocks than the device has multiprocessors leaves some of them without
    work, however long it runs; its occupancy says how full the others are.

    What to do: larger batches or longer sequences, fewer and larger layers, `torch.compile` to join small
    operations.

    How it is found: a fifth of the step or more goes to kernels with less than one block for each
    multiprocessor.

    Bad:
        for sample in batch: model(sample[None])
    Good:
        model(batch)
    """
    gpu = run.gpu
    if gpu is None or not run.step_ns:
        return
    small = gpu.few_blocks_ns()
    if run.share(small) < 0.2:
        return
    occupancy, blocks = gpu.occupancy()
    seen = "" if math.isnan(occupancy) else f"; occupancy {occupancy:.0%}, {blocks:.1f} blocks per multiprocessor"
    yield Tip(
        where=None,
        message=f"{run.share(small):.0%} of the step are kernels that fill only part of the device{seen}",
        fix="a larger batch, or torch.compile to join small kernels",
        share=run.share(run.on_device(small)),
        saving_ns=run.on_device(small / 2),
        at_most=True,
        how="kernels with less than one block a multiprocessor, twice as full",
        evidence={"ms": round(small / 1e6, 3), "occupancy": None if math.isnan(occupancy) else round(occupancy, 3)},
        part="kernels",
    )
