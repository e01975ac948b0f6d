from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from stepscope.diagnose.rule import rule
from stepscope.profile.advice.device_work import DeviceWork
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip

_PRODUCTS = ("aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm")
_HALF = ("c10::Half", "c10::BFloat16")


@rule("perf.misaligned-matmul", needs="profile", device="cuda")
def misaligned_matmul(run: Measured) -> Iterator[Tip]:
    """Half-precision matrix products have sizes that are not multiples of 8.

    Why it matters: tensor cores work on tiles; with a vocabulary of 50257 or 10 classes the kernel must load
    unaligned or pad, and runs at a fraction of the speed.

    What to do: round vocabularies, hidden sizes and batches up to a multiple of 8 (64 is better); the extra
    classes never occur.

    How it is found: the shapes of the products in the trace. The saving is 30% of the time of those with a size
    that is not a multiple of 8.

    Bad:
        nn.Linear(768, 50257)
    Good:
        nn.Linear(768, 50304)
    """
    gpu = run.gpu
    if gpu is None or not run.step_ns:
        return
    slow, worst = _misaligned(gpu)
    if run.share(slow) < 0.03:
        return
    yield Tip(
        where=None,
        message=f"half-precision products with unaligned sizes take {run.share(slow):.0%} of the step, e.g. {worst}",
        fix="round the sizes up to a multiple of 8, better 64",
        share=run.share(run.on_device(slow)),
        saving_ns=run.on_device(slow * 0.3),
        how="30% of the time of these products",
        evidence={"ms": round(slow / 1e6, 3), "sizes": worst},
        part="products",
    )


def _misaligned(gpu: DeviceWork) -> tuple[int, str]:
    """Nanoseconds a step, and the sizes that cost most."""
    events, trace = gpu.trace.events, gpu.trace
    dims, types = events.text_index("Input Dims"), events.text_index("Input type")
    ops = trace.device_op[gpu.kernels]
    linked = ops >= 0
    kernels, ops = gpu.kernels[linked], ops[linked]
    is_product = events.named(lambda name: name in _PRODUCTS)[ops] & (dims[ops] >= 0) & (types[ops] >= 0)
    kernels, ops = kernels[is_product], ops[is_product]
    if not len(ops):
        return 0, ""
    shapes, which = np.unique(np.stack([dims[ops], types[ops]]), axis=1, return_inverse=True)
    totals = np.bincount(which.ravel(), events.dur[kernels].clip(0), shapes.shape[1])
    slow: dict[str, float] = {}
    for (shape, kind), total in zip(shapes.T.tolist(), totals.tolist(), strict=True):
        odd = _odd_sizes(events.texts[shape], events.texts[kind])
        if odd:
            slow[odd] = slow.get(odd, 0.0) + total
    worst = max(slow, key=lambda sizes: slow[sizes], default="")
    return int(sum(slow.values()) // gpu.steps), worst


def _odd_sizes(dims: str, types: str) -> str:
    """The sizes of a half-precision product when one is not a multiple of 8, else ""."""
    if not any(kind in types for kind in _HALF):
        return ""
    try:
        shapes: list[Any] = json.loads(dims)
    except ValueError:
        return ""
    matrices = [shape for shape in shapes if isinstance(shape, list) and len(shape) >= 2]
    sizes = [size for shape in matrices[-2:] for size in shape[-2:]]
    if not sizes or all(size % 8 == 0 for size in sizes):
        return ""
    return " @ ".join("x".join(map(str, shape[-2:])) for shape in matrices[-2:])
