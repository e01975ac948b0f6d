from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.rule import rule
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip, Trial


@rule("perf.no-cudnn-benchmark", needs="profile", device="gpu", severity="info")
def no_cudnn_benchmark(run: Measured) -> Iterator[Tip]:
    """Convolutions of always the same shapes do not look for the fastest algorithm.

    Why it matters: cuDNN has several algorithms for each convolution and chooses by rule of thumb, unless it
    may try them out once for each shape.

    What to do: `torch.backends.cudnn.benchmark = True` at the top of the script. Not with shapes that change
    all the time: each new one is tried out again.

    How it is found: convolutions take a fifth of the step or more, saw no more than two shapes each, and the
    switch is off. The saving is an assumption: a tenth of their time.

    Bad:
        model = resnet50().cuda()
    Good:
        torch.backends.cudnn.benchmark = True
        model = resnet50().cuda()
    """
    gpu = run.gpu
    flags, convolutions = run.flags, run.facts.get("convolutions", {})
    if gpu is None or not run.step_ns or flags.get("cudnn_benchmark", True) or flags.get("cudnn_deterministic"):
        return
    if not convolutions.get("calls") or not convolutions.get("steady_shapes") or flags.get("deterministic"):
        return
    time = gpu.kinds.get("convolution", 0)
    if run.share(time) < 0.2:
        return
    yield Tip(
        where=None,
        message=f"convolutions take {run.share(time):.0%} of the step, and cuDNN's autotuner is off",
        fix="torch.backends.cudnn.benchmark = True",
        share=run.share(run.on_device(time)),
        saving_ns=run.on_device(time * 0.1),
        how="an assumption: a tenth of the convolutions",
        evidence={"ms": round(time / 1e6, 3)},
        part="products",
        trial=Trial("flag", {"cudnn_benchmark": True}),
    )
