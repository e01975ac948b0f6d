from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stepscope.diagnose.rule import Proof, rule

if TYPE_CHECKING:
    from stepscope.diagnose.stored.stored_run import StoredRun

_FULL = 97.0


@rule("run.memory-full", needs="stored", follows=("mem.*",))
def memory_full(run: StoredRun) -> Iterator[Proof]:
    """The machine's memory was full when the run was killed, or nearly full while it ran.

    Why it matters: a process that asks for more memory than there is gets killed without a traceback, and a machine
    that swaps trains many times slower.

    What to do: use fewer or leaner DataLoader workers, keep `loss.item()` instead of `loss` in lists, read data in
    pieces, and save what only grows.

    How it is found: the machine's memory was used to 97% or more in the last samples before the run was killed (an
    error), or for a tenth of the run (a warning).

    Bad:
        history.append(loss)
    Good:
        history.append(loss.item())
    """
    for series in run.system("system/memory_percent"):
        full = series.values >= _FULL
        if not full.any():
            continue
        killed = run.folder.status in ("killed", "lost") and bool(full[-3:].any())
        if not killed and float(full.mean()) < 0.1:
            continue
        step = f"{float(series.values.max()):.0f}%"
        yield Proof(
            where=None,
            message=f"memory was used to {step} when the run was killed"
            if killed
            else f"memory was used to {step} for {float(full.mean()):.0%} of the run",
            fix="find what grows: `stepscope show` has the curve of system/process_rss_bytes",
            evidence={"most": float(series.values.max()), "samples": len(series), "full": int(full.sum())},
            severity="error" if killed else "warning",
        )
        return
