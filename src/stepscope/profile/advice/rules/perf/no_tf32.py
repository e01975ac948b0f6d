from __future__ import annotations

import re
from collections.abc import Iterator

from stepscope.diagnose.rule import rule
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip, Trial
from stepscope.profile.trace.kernel_names import is_tensor_core_kernel, kernel_kind

_FLOAT32 = re.compile(r"sgemm|f32f32|_s_|simt_s|ffma|float", re.I)
_WIDER = re.compile(r"dgemm|f64|double|hgemm|bf16|f16|half", re.I)


@rule("perf.no-tf32", needs="profile", device="cuda")
def no_tf32(run: Measured) -> Iterator[Tip]:
    """Matrix products in float32 are not allowed to use TF32.

    Why it matters: since Ampere, tensor cores multiply float32 with 10 bits of mantissa and sum in full
    precision, several times faster. PyTorch leaves this off for matrix products until it is asked.

    What to do: `torch.set_float32_matmul_precision("high")` at the top of the script; mixed precision gains
    more still.

    How it is found: matrix products ran as float32 kernels without tensor cores, on Ampere or later, with the
    precision at "highest". The saving is what TF32 gave a large product on this device, and half of their time where
    that was not measured.

    Bad:
        model = Net().cuda()
    Good:
        torch.set_float32_matmul_precision("high")
        model = Net().cuda()
    """
    gpu = run.gpu
    if gpu is None or not run.step_ns or run.capability < (8, 0):
        return
    if run.flags.get("matmul_precision", "highest") != "highest":
        return
    slow = gpu.per_step(gpu.named(gpu.eligible, _is_float32_product))
    if run.share(slow) < 0.05:
        return
    gain = run.machine.tf32_gain
    yield Tip(
        where=None,
        message=f"float32 matrix products take {run.share(slow):.0%} of the step and may not use TF32",
        fix='torch.set_float32_matmul_precision("high")',
        share=run.share(run.on_device(slow)),
        saving_ns=run.on_device(slow * (1 - 1 / gain if gain > 1 else 0.5)),
        how=f"a large product is {gain:.1f}x faster with TF32 here"
        if gain > 1
        else "half of the time of these products",
        evidence={"ms": round(slow / 1e6, 3), "precision": run.flags.get("matmul_precision", "not known")},
        part="products",
        trial=Trial("flag", {"float32_matmul_precision": "high"}),
    )


def _is_float32_product(name: str) -> bool:
    if kernel_kind(name) != "gemm" or is_tensor_core_kernel(name):
        return False
    return _FLOAT32.search(name) is not None and _WIDER.search(name) is None
