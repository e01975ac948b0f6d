from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.rule import rule
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip, Trial

_FUSABLE = ("elementwise", "normalisation", "softmax and loss", "reduction", "copy", "random")


@rule("perf.not-compiled", needs="profile", device="gpu")
def not_compiled(run: Measured) -> Iterator[Tip]:
    """A large part of the device's time goes to small operations that a compiler would join.

    Why it matters: each elementwise operation, norm and dropout reads and writes all of its tensor; joined into
    one kernel, the tensor is read and written once.

    What to do: `model = torch.compile(model)`.

    How it is found: elementwise kernels, norms, reductions and copies take a quarter of the step or more, and
    nothing was compiled. What joining them gains depends on the compiler: at most their time, unless it is tried.

    Bad:
        model = Net().cuda()
    Good:
        model = torch.compile(Net().cuda())
    """
    gpu = run.gpu
    if gpu is None or not run.step_ns or run.facts.get("compile", {}).get("used"):
        return
    if any(name.startswith("triton_") for name in gpu.trace.events.names):
        return
    small = sum(gpu.kinds.get(kind, 0) for kind in _FUSABLE)
    if run.share(small) < 0.25:
        return
    yield Tip(
        where=None,
        message=f"{run.share(small):.0%} of the step are elementwise kernels, norms and copies, each on its own",
        fix="torch.compile(model)",
        share=run.share(run.on_device(small)),
        saving_ns=run.on_device(small),
        at_most=True,
        how="the time of kernels that can be joined",
        evidence={"ms": round(small / 1e6, 3), "kernels": round(gpu.kernel_count)},
        part="kernels",
        trial=Trial("compile", {}),
    )
