from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from stepscope.diagnose.rule import rule
from stepscope.profile.advice.device_work import DeviceWork
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip


@rule("perf.conv-bias-before-norm", needs="profile", device="gpu")
def conv_bias_before_norm(run: Measured) -> Iterator[Tip]:
    """A convolution adds a bias that the batch norm after it takes away again.

    Why it matters: the norm subtracts the mean, and with it the bias; adding it and summing its gradient is a
    pass over the whole output each, for nothing.

    What to do: `bias=False` in convolutions right before a batch norm.

    How it is found: the output of a convolution with a bias went straight into a batch norm; the saving is the
    time of the kernels that add the bias and sum its gradient.

    Bad:
        nn.Sequential(nn.Conv2d(64, 128, 3), nn.BatchNorm2d(128))
    Good:
        nn.Sequential(nn.Conv2d(64, 128, 3, bias=False), nn.BatchNorm2d(128))
    """
    gpu = run.gpu
    pairs = run.facts.get("conv_bias_before_norm", [])
    if gpu is None or not run.step_ns or not pairs:
        return
    took = _bias_time(gpu)
    several = len(pairs) > 1
    yield Tip(
        where=None,
        message=f"{', '.join(pairs[:3])}{' ...' * (len(pairs) > 3)} {'add biases' if several else 'adds a bias'} "
        "that the batch norm after removes",
        fix="bias=False",
        share=run.share(run.on_device(took)),
        saving_ns=run.on_device(took),
        how="the kernels that add the bias and sum its gradient",
        evidence={"layers": pairs[:20], "ms": round(took / 1e6, 3)},
        part="kernels",
    )


def _bias_time(gpu: DeviceWork) -> int:
    """Additions inside a convolution, and sums inside its backward."""
    trace, events = gpu.trace, gpu.trace.events
    ops = trace.device_op[gpu.kernels]
    linked = ops >= 0
    kernels, ops = gpu.kernels[linked], ops[linked]
    parents = trace.op_parent[ops]
    adds = events.named(lambda name: name in ("aten::add_", "aten::sum"))[ops]
    convolves = events.named(lambda name: "convolution" in name.lower())
    inside = (parents >= 0) & np.where(parents >= 0, convolves[parents], False)
    return gpu.per_step(kernels[adds & inside])
