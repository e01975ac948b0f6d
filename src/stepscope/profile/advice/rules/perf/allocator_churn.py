from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.rule import rule
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip


@rule("perf.allocator-churn", needs="profile", device="gpu")
def allocator_churn(run: Measured) -> Iterator[Tip]:
    """Memory of the device is allocated and freed for real in every step.

    Why it matters: PyTorch keeps freed memory to use it again at no cost. `cudaMalloc` and `cudaFree` take
    milliseconds and `cudaFree` waits for the device; in a settled training there are none.

    What to do: no `torch.cuda.empty_cache()` in the loop; fewer different shapes;
    `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True`.

    How it is found: calls of the runtime that allocate or free, in steps after the first; their time is the
    saving.

    Bad:
        for x, y in loader:
            train(x, y)
            torch.cuda.empty_cache()
    Good:
        for x, y in loader:
            train(x, y)
    """
    gpu = run.gpu
    if gpu is None or not run.step_ns:
        return
    count, time = gpu.calls(lambda name: name in _ALLOCATIONS)
    if count < 0.5:
        return
    yield Tip(
        where=run.line_with("empty_cache"),
        message=f"the runtime allocates or frees device memory {count:.0f}x in each step",
        fix="no empty_cache() in the loop; steady shapes; expandable_segments:True",
        share=run.share(run.on_host(time)),
        saving_ns=run.on_host(time),
        how="the time of these calls",
        evidence={"calls": round(count, 1), "ms": round(time / 1e6, 3)},
        part="idle",
    )


_ALLOCATIONS = frozenset(
    (
        "cudaMalloc",
        "cudaFree",
        "cudaMallocAsync",
        "cudaFreeAsync",
        "hipMalloc",
        "hipFree",
        "cuMemCreate",
        "cuMemRelease",
    )
)
