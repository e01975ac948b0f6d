from __future__ import annotations

from collections.abc import Iterator

from stepscope.diagnose.rule import rule
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip, Trial

_DEVICE_BYTES_PER_NS = 1000.0
_PASSES = {"SGD": 3, "Adam": 7, "AdamW": 7, "Adagrad": 5}
_FUSED_TENSOR_NS, _DEVICE_TENSOR_NS = 2_000, 500
"""For each tensor: on a device one kernel takes dozens of them, and the host gathers their addresses."""


@rule("perf.optimizer-loop", needs="profile")
def optimizer_loop(run: Measured) -> Iterator[Tip]:
    """The optimizer updates its tensors one by one.

    Why it matters: a loop over the tensors makes several small operations for each. `fused=True` does the whole
    update of all tensors in one or a few kernels, on processors too.

    What to do: `torch.optim.AdamW(params, fused=True)`; for optimizers without it `foreach=True` on
    accelerators.

    How it is found: the optimizer has a fused form that is not in use, works on the host (on accelerators many tensors
    at once are the default: there, only with `foreach=False`), and takes a twentieth of the step or more. The saving is
    its time, less one pass over parameters, gradients and state.

    Bad:
        torch.optim.Adam(model.parameters())
    Good:
        torch.optim.Adam(model.parameters(), fused=True)
    """
    optimizer, time = run.optimizer, run.part("optimizer")
    if not optimizer.get("ours") or optimizer.get("fused") or optimizer.get("differentiable"):
        return
    fused = optimizer.get("has_fused") and optimizer["class"] in _PASSES
    on_device = run.kind != "cpu"
    if on_device and optimizer.get("foreach") is not False:
        return  # there many tensors at once is the default
    if not fused and not (on_device and optimizer.get("has_foreach")):
        return
    if run.share(time) < 0.05 or int(optimizer.get("tensors", 0)) < 4:
        return
    numbers, tensors = int(optimizer["numbers"]), int(optimizer["tensors"])
    passes = _PASSES.get(optimizer["class"], 6) * numbers * 4
    speed = _DEVICE_BYTES_PER_NS if on_device else run.machine.copy_bytes_per_ns
    then = passes / speed + tensors * (_DEVICE_TENSOR_NS if on_device else _FUSED_TENSOR_NS)
    setting = "fused=True" if fused else "foreach=True"
    yield Tip(
        where=run.where(optimizer, "made"),
        message=f"{optimizer['class']} updates {tensors} tensors one by one",
        fix=setting,
        share=run.share(time),
        saving_ns=int(min(max(0.0, time - then * run.stretch), (0.9 if on_device else 0.6) * time)),
        how="the update's time, less one pass over the bytes of parameters, gradients and state",
        evidence={"tensors": tensors, "numbers": numbers, "ms": round(time / 1e6, 3)},
        part="optimizer",
        trial=Trial("optimizer", {"fused": True} if fused else {"foreach": True}),
    )
