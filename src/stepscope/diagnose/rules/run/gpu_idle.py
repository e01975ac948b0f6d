from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from stepscope.diagnose.rule import Proof, rule

if TYPE_CHECKING:
    from stepscope.diagnose.stored.stored_run import StoredRun

_LEAST_S = 120.0
_IDLE = 30.0


@rule("run.gpu-idle", severity="info", needs="stored", follows=("perf.*",))
def gpu_idle(run: StoredRun) -> Iterator[Proof]:
    """A GPU held memory for the whole run but was idle most of the time.

    Why it matters: the run paid for a GPU and used a fraction of it. Something else is the bottleneck, most often the
    data loader.

    What to do: `stepscope profile train.py` says where the time goes, and what would help.

    How it is found: over two minutes or more, the median use of a GPU that held at least 5% of its memory is under 30%.

    Bad:
        loader = DataLoader(data, batch_size=8)
    Good:
        loader = DataLoader(data, batch_size=64, num_workers=8, pin_memory=True, persistent_workers=True)
    """
    held = {series.name.rpartition("/")[0]: series for series in run.system("memory_percent")}
    for series in run.system("/use_percent"):
        memory = held.get(series.name.rpartition("/")[0])
        if memory is None or not len(memory) or len(series) < 10:
            continue
        lasted = float(series.times[-1] - series.times[0])
        use = float(np.median(series.values))
        if lasted >= _LEAST_S and use < _IDLE and float(np.median(memory.values)) >= 5:
            card = series.name.split("/")[1]
            yield Proof(
                where=None,
                message=f"{card} was in use {use:.0f}% of the time (median of {len(series)} samples)",
                fix="profile it: `stepscope profile` shows what the GPU waits for",
                evidence={"gpu": card, "use_percent": use, "seconds": round(lasted)},
            )
            return
