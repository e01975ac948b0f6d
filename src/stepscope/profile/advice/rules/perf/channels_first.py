from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.rule import rule
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip, Trial


@rule("perf.channels-first", needs="profile", device="gpu")
def channels_first(run: Measured) -> Iterator[Tip]:
    """Convolutions turn their tensors around before and after the work.

    Why it matters: tensor cores want the channels last. With tensors in PyTorch's usual order the library
    inserts transposing kernels around each convolution.

    What to do: `model = model.to(memory_format=torch.channels_last)`, and the same for the input.

    How it is found: the trace has transposing kernels (nchwToNhwc, nhwcToNchw); their time is the saving.

    Bad:
        model = resnet50().cuda()
    Good:
        model = resnet50().cuda().to(memory_format=torch.channels_last)
        x = x.to(memory_format=torch.channels_last)
    """
    gpu = run.gpu
    if gpu is None or not run.step_ns:
        return
    turning = gpu.kernel_time(lambda name: "nchwtonhwc" in name.lower() or "nhwctonchw" in name.lower())
    if run.share(turning) < 0.01:
        return
    lines = run.by_line(run.calls("conv2d", "conv3d"))
    yield Tip(
        where=max(lines, key=lambda place: sum(one["ns"] for one in lines[place]), default=None),
        message=f"tensors are transposed around convolutions, {run.share(turning):.0%} of the step",
        fix="model and input .to(memory_format=torch.channels_last)",
        share=run.share(run.on_device(turning)),
        saving_ns=run.on_device(turning),
        how="the time of the transposing kernels",
        evidence={"ms": round(turning / 1e6, 3)},
        part="products",
        trial=Trial("channels_last", {}),
    )
