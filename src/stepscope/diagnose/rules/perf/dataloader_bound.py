from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.evidence import Evidence
from stepscope.diagnose.rule import Proof, rule

_BATCHES = 12
_SHARE = 0.5
_WORK_S = 0.006
_WAIT_S = 0.1
_LOUD_WORK_S, _LOUD_WAIT_S = 0.03, 0.3
"""What a batch must cost, in work of this thread or else in waiting (for a disk), before it is worth a word. Below it
the share says more about a tiny model or a busy machine than about the data."""


@rule("perf.dataloader-bound", severity="warning")
def dataloader_bound(run: Evidence) -> Iterator[Proof]:
    """The training waits for data more than it computes.

    Why it matters: the model (and the GPU) stands still while samples are read and prepared one after the other.

    What to do: prepare once instead of on every access, or load in the background with `num_workers`.

    How it is found: the time between asking a training loader for a batch and getting it is more than half of the time
    since the first batch, and many milliseconds for each.

    Bad:
        DataLoader(dataset, batch_size=64)  # and a slow __getitem__
    Good:
        DataLoader(dataset, batch_size=64, num_workers=4, persistent_workers=True)
    """
    for loader in run.loaders.all:
        if loader.trains < _BATCHES or loader.steady_batches < _BATCHES:
            continue
        others = loader.steady_batches - 1  # without the slowest: a pause of the machine or an import comes once
        stall_wait, stall_turn, stall_work = loader.steady_longest
        wait = (loader.steady_wait_s - stall_wait) / others
        turn = (loader.steady_turn_s - stall_turn) / others
        share = wait / turn if turn else 0.0
        work = (loader.steady_wait_cpu_s - stall_work) / others
        if share < _SHARE or (work < _WORK_S and wait < _WAIT_S):
            continue
        workers = "no workers" if not loader.workers else f"{loader.workers} workers"
        yield Proof(
            where=loader.made or loader.iterated,
            message=f"the training waits for data {share:.0%} of the time",
            label=f"{wait * 1e3:.0f} ms of every {turn * 1e3:.0f} ms, with {workers}",
            evidence={"wait_share": round(share, 3), "wait_ms": round(wait * 1e3, 2), "workers": loader.workers},
            # Timings tell little on a busy machine and of tiny models: loud only where a batch costs a lot.
            severity=None if work >= _LOUD_WORK_S or wait >= _LOUD_WAIT_S else "info",
            fix="do the work of __getitem__ once and keep the result, or set num_workers (and persistent_workers=True)",
        )
