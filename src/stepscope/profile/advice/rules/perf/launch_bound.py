from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.rule import rule
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip, Trial


@rule("perf.launch-bound", needs="profile", device="gpu")
def launch_bound(run: Measured) -> Iterator[Tip]:
    """The device runs out of work because Python starts its many small kernels too slowly.

    Why it matters: starting a kernel from Python takes 5 to 25 us. Kernels that are done sooner leave the
    device idle between them.

    What to do: `torch.compile(model)` makes few kernels of many; `mode="reduce-overhead"` starts them all at
    once with CUDA graphs; larger batches give each kernel more to do.

    How it is found: kernels that are short (or shorter than the idle time between them), dozens of them a step, and a
    quarter of the step or more in which the device is idle, no data is waited for and the host does not wait either.
    What it gains depends on what the compiler makes of the model: only the bound is given, unless it is tried.

    Bad:
        model = Net().cuda()
    Good:
        model = torch.compile(Net().cuda(), mode="reduce-overhead")
    """
    gpu = run.gpu
    if gpu is None or not run.step_ns or not gpu.kernel_count:
        return
    copying = max(0, run.part("h2d") - gpu.parts.get("memcpy", 0))  # the host is held up by a copy, not by launches
    idle = run.idle_beside_data_ns - run.on_host(gpu.per_step(gpu.waits)) - copying
    mean = gpu.kernel_ns / gpu.kernel_count
    if run.share(idle) < 0.25 or gpu.kernel_count < 50 or mean > max(30_000, idle / gpu.kernel_count):
        return
    launching = min(idle, gpu.kernel_count * run.launch_ns)
    compiled = bool(run.facts.get("compile", {}).get("used"))
    fix = 'torch.compile(model, mode="reduce-overhead")'
    yield Tip(
        where=None,
        message=f"the device is idle between {gpu.kernel_count:.0f} kernels a step of {mean / 1e3:.0f} us each",
        fix=fix if not compiled else f"{fix}: CUDA graphs, or a larger batch",
        share=run.share(run.on_device(launching)),
        saving_ns=run.on_device(launching),
        at_most=True,
        how=f"{gpu.kernel_count:.0f} launches of {run.launch_ns / 1e3:.0f} us, within the idle time",
        evidence={"kernels": round(gpu.kernel_count), "mean_us": round(mean / 1e3, 1), "idle_ms": round(idle / 1e6, 2)},
        part="idle",
        trial=Trial("compile", {"mode": "reduce-overhead"}),
    )
