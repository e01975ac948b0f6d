from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.rule import rule
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip, Trial


@rule("perf.no-mixed-precision", needs="profile", device="cuda")
def no_mixed_precision(run: Measured) -> Iterator[Tip]:
    """Matrix products run in float32 on ordinary cores while the tensor cores are idle.

    Why it matters: tensor cores multiply half-precision numbers 8 to 16 times faster than the other cores
    multiply float32, and half the bytes move.

    What to do: run forward and loss under `torch.autocast("cuda", dtype=torch.bfloat16)`; on devices before
    Ampere `torch.float16`, with a `GradScaler`.

    How it is found: kernels of matrix products and convolutions that did not use tensor cores take a tenth of
    the step or more, on a device that has them, without autocast. The saving is what bfloat16 gave a large product on
    this device, less a pass to convert the weights; 60% of their time where that was not measured.

    Bad:
        loss = criterion(model(x), y)
    Good:
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = criterion(model(x), y)
    """
    gpu, amp = run.gpu, run.facts.get("amp", {})
    if gpu is None or not run.step_ns or run.capability < (7, 0):
        return
    if amp.get("matmuls") and amp.get("autocast", 0) >= 0.5 * amp["matmuls"]:
        return
    slow = gpu.without_tensor_cores_ns
    if run.share(slow) < 0.1:
        return
    dtype = "bfloat16" if run.capability >= (8, 0) else "float16"
    gain = run.machine.half_gain
    saving = slow * (1 - 1 / gain) * 0.95 if gain > 1 else slow * 0.6
    lines = run.by_line(run.calls("linear", "matmul", "bmm", "mm", "addmm", "conv2d", "conv1d", "conv3d"))
    yield Tip(
        where=max(lines, key=lambda place: sum(one["ns"] for one in lines[place]), default=None),
        message=f"matrix products take {run.share(slow):.0%} of the step without the tensor cores of this device",
        fix=f'torch.autocast("cuda", dtype=torch.{dtype}) around forward and loss',
        share=run.share(run.on_device(slow)),
        saving_ns=run.on_device(saving),
        how=f"a large product is {gain:.1f}x faster in half precision here"
        if gain > 1
        else "60% of the time of products that did not use tensor cores",
        evidence={"ms": round(slow / 1e6, 3), "device": run.device.get("name", "")},
        part="products",
        trial=Trial("amp", {"dtype": dtype}),
    )
