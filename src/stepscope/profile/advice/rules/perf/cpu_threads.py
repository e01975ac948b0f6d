from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.rule import rule
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip, Trial

_LARGE_NS = 300_000
"""Operations shorter than this are not made faster by more threads."""
_GAINS = 1.1


@rule("perf.cpu-threads", needs="profile", device="cpu")
def cpu_threads(run: Measured) -> Iterator[Tip]:
    """PyTorch computes with the wrong number of threads for the processors there are.

    Why it matters: with more threads than processors (a container that may use 4 of 64) they stop each other;
    with one thread, the other processors stand still.

    What to do: `torch.set_num_threads(n)` or `OMP_NUM_THREADS=n`, with n the processors the process may use,
    less the loader's workers.

    How it is found: torch's threads against the processors of the affinity and the container's quota. Too few
    counts only where single operations are long enough to be divided. The saving is what a large product gained
    from more threads on this machine; where that was not measured, half of what threads could give. A product that
    gained nothing (two processors that share one core) says little of work that waits for memory: then that half is
    only the bound, until it is tried.

    Bad:
        torch.set_num_threads(1)
    Good:
        torch.set_num_threads(8)
    """
    cpu = run.facts.get("cpu", {})
    threads, cores = int(cpu.get("threads", 0)), int(cpu.get("cores", 0))
    if not threads or not cores:
        return
    free = max(1, cores - int(run.loader.get("num_workers") or 0))
    large = [one for one in run.calls(fetching=False) if one.get("least_ns", 0) >= _LARGE_NS]
    time = run.part("forward") + run.part("backward") or run.step_ns - run.part("data") - run.part("optimizer")
    at_most = False
    if threads > 2 * cores:
        saving, how = time * (1 - cores / threads) * 0.3, "a third of the time lost when threads share a processor"
        message = f"{threads} threads take turns on {cores} processor{'s' * (cores > 1)}"
    elif threads * 2 <= free and large:
        covered = min(1.0, sum(one["ns"] for one in large) * 3 / max(1, time))
        saving, how, at_most = _with_threads(run, time * covered, threads, free)
        message = f"torch computes with {threads} thread{'s' * (threads > 1)}, and {cores} processors are available"
    else:
        return
    said = run.facts.get("environment", {}).get("OMP_NUM_THREADS")
    yield Tip(
        where=None,
        message=message + (f" (OMP_NUM_THREADS={said})" if said else ""),
        fix=f"torch.set_num_threads({free})",
        share=run.share(time),
        saving_ns=int(saving),
        how=how,
        evidence={"threads": threads, "processors": cores},
        part="threads",
        trial=Trial("flag", {"num_threads": free}),
        at_most=at_most,
    )


def _with_threads(run: Measured, time: float, threads: int, free: int) -> tuple[float, str, bool]:
    """What is saved, where that comes from, and whether it is only a bound."""
    gain = run.machine.threads_gain
    is_known = bool(gain) and threads == 1 and free == run.cores
    if is_known and gain >= _GAINS:
        return time * (1 - 1 / gain), f"a large product takes 1/{gain:.1f} of the time with {free} threads here", False
    return time * (1 - threads / free) * 0.5, "half of what threads could give large operations", is_known
