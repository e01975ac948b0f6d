from __future__ import annotations

import math
from collections.abc import Iterator

from stepscope.diagnose.rule import rule
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip, Trial

_EFFICIENCY = 0.85
_LEAST_GAIN = 1.1
"""Below it, what workers cost and what they gain are too close to tell apart."""


@rule("perf.loader-in-main-process", needs="profile")
def loader_in_main_process(run: Measured) -> Iterator[Tip]:
    """The DataLoader runs in the main process, and training waits for it.

    Why it matters: with `num_workers=0` samples are read and prepared while the model stands still. In workers
    the next batches are made while this one is trained on.

    What to do: set `num_workers`, with `persistent_workers=True`; `stepscope tune-data` measures the best
    number.

    How it is found: the loader has no workers and the wait for batches is a tenth of the step or more. The
    saving is modeled with what handing a batch over costs on this machine: the wait is divided by the workers, and
    they, the training and other programs share the processors.

    Bad:
        DataLoader(dataset, batch_size=64, shuffle=True)
    Good:
        DataLoader(dataset, batch_size=64, shuffle=True, num_workers=4, persistent_workers=True)
    """
    loader, wait = run.loader, run.part("data")
    if not loader or loader.get("num_workers") != 0 or run.share(wait) < 0.1 or run.cores < 2:
        return
    rest = max(1, run.step_ns - wait)
    # What only waits for a disk or the net needs no processor: there may be more workers than processors.
    share = float(loader.get("working_share") or 1.0)
    working = share if share < 0.5 and not loader.get("dataset", {}).get("in_memory") else 1.0
    room = run.cores if run.kind != "cpu" else max(1, run.cores - 1)
    workers = min(max(room, math.floor(room / max(working, 0.1))), 1 + math.ceil(wait / rest), 8)
    size = int(loader.get("batch", {}).get("bytes", 0))
    hand_over, send = run.machine.hand_over(size) * run.stretch, run.machine.send(size) * run.stretch
    if int(loader.get("quick_wait_ns") or wait) < 1.5 * hand_over:
        return  # a worker would cost more than it takes over
    then = max(rest + hand_over, (wait + send) / workers / _EFFICIENCY)
    threads = min(run.cores, int(run.facts.get("cpu", {}).get("threads", 1))) if run.kind == "cpu" else 1
    # All of them compete for the processors. What was measured is already slower than it would be alone.
    work = (wait + send) * working + rest * threads + hand_over
    alone = work * run.capacity(threads) / threads
    then = max(then, alone / run.capacity(threads + workers))
    if run.step_ns < _LEAST_GAIN * then:
        return
    setting = f"num_workers={workers}, persistent_workers=True (stepscope tune-data measures it)"
    yield Tip(
        where=run.where(loader, "made", "iterated"),
        message="the DataLoader runs in the main process, and training waits for it",
        fix=setting
        + (
            "; an iterable dataset must split its data among workers: see get_worker_info"
            * bool(loader.get("iterable"))
        ),
        share=run.share(wait),
        saving_ns=int(run.step_ns - then),
        how=f"the wait divided by {workers} workers on {run.cores} processors, {hand_over / 1e6:.2f} ms for each batch",
        evidence={"wait_ms": round(wait / 1e6, 2), "workers": 0, "processors": run.cores},
        part="data",
        trial=Trial("loader", {"num_workers": workers, "persistent_workers": True}),
    )
