"""What a training is bound by, in one sentence with its numbers."""

from __future__ import annotations

from dataclasses import dataclass

from stepscope.profile.advice.device_work import DeviceWork
from stepscope.profile.advice.engine import in_words
from stepscope.profile.advice.measured import Measured

_LATE = 6
"""Idle for longer than this many launches a kernel: it is not the launches. (Recording makes each 2 to 4x as long.)"""


@dataclass(frozen=True)
class Headline:
    kind: str
    """input, communication, copy, sync, launch, host, compute, optimizer, script; even: nothing stands out; none."""
    text: str
    share: float = 0.0


def headline(run: Measured) -> Headline:
    """The bottleneck: the part of the step that most of what could be gained lies in."""
    if not run.step_ns:
        why = (
            "the profile is damaged and no training step can be read from it"
            if run.damaged
            else "no training step was seen"
        )
        return Headline("none", f"{why}, so its speed is unknown")
    found = _waiting(run) or (_device(run) if run.gpu is not None else _host(run))
    return found or _nothing(run)


def _of(nanoseconds: float, run: Measured) -> str:
    return f"({in_words(nanoseconds)} of {in_words(run.step_ns)})"


def _waiting(run: Measured) -> Headline | None:
    data = run.part("data")
    share = run.share(data)
    if share < 0.2:
        return None
    return Headline("input", f"{share:.0%} of each step is spent waiting for data {_of(data, run)}", share)


def _device(run: Measured) -> Headline | None:
    gpu = run.gpu
    if gpu is None:
        return None
    parts = {key: run.share(value) for key, value in gpu.parts.items()}
    talking, copying = parts.get("communication", 0.0), parts.get("memcpy", 0.0)
    idle = run.share(run.idle_ns)
    if talking >= 0.2 and talking >= idle:
        ns = run.on_device(gpu.parts["communication"])
        return Headline(
            "communication", f"{talking:.0%} of each step the GPU only exchanges data {_of(ns, run)}", talking
        )
    if copying >= 0.2 and copying >= idle:
        ns = run.on_device(gpu.parts["memcpy"])
        return Headline("copy", f"{copying:.0%} of each step the GPU only copies {_of(ns, run)}", copying)
    if idle >= 0.25:
        return _idle(run, gpu, idle)
    busy = parts.get("kernel", 0.0)
    if busy >= 0.5:
        kind, most = max(gpu.kinds.items(), key=lambda one: one[1], default=("", 0))
        text = f"the GPU computes {busy:.0%} of each step {_of(run.on_device(gpu.parts['kernel']), run)}"
        part = most / max(1, gpu.kernel_ns)
        words = f"most of it is {kind}" if part > 0.5 else f"the largest part is {kind}"
        return Headline("compute", f"{text}; {words} ({part:.0%})", busy)
    return None


def _idle(run: Measured, gpu: DeviceWork, idle: float) -> Headline:
    ns = run.idle_ns
    waits, waited = len(gpu.waits) / gpu.steps, run.on_host(gpu.per_step(gpu.waits))
    said = f"the GPU is idle {idle:.0%} of each step {_of(ns, run)}"
    if waits >= 0.5 and run.share(waited) >= 0.1 and waited >= 0.4 * ns:
        return Headline(
            "sync", f"{said}: the host waits for it {_times(waits)} a step and then starts from nothing", idle
        )
    count = gpu.kernel_count
    if ns > _LATE * count * run.launch_ns:
        kernels = "one kernel" if round(count) == 1 else f"{count:.0f} kernels"
        return Headline("host", f"{said}: the host is busy with other things than the {kernels} it starts", idle)
    return Headline("launch", f"{said}: Python starts its {count:.0f} kernels slower than it runs them", idle)


def _times(count: float) -> str:
    return "once" if round(count) == 1 else f"{count:.0f} times"


def _host(run: Measured) -> Headline | None:
    parts = {key: run.share(run.part(key)) for key in run.parts}
    update, other = parts.get("optimizer", 0.0), parts.get("other", 0.0)
    work = parts.get("forward", 0.0) + parts.get("backward", 0.0)
    if update >= 0.3:
        return Headline(
            "optimizer", f"{update:.0%} of each step is the optimizer {_of(run.part('optimizer'), run)}", update
        )
    if other >= 0.4 and work:
        said = "is neither model nor optimizer nor data, but the rest of the loop"
        return Headline("script", f"{other:.0%} of each step {said} {_of(run.part('other'), run)}", other)
    if work >= 0.5:
        ns = run.part("forward") + run.part("backward")
        return Headline("compute", f"{work:.0%} of each step is forward and backward {_of(ns, run)}", work)
    return None


def _nothing(run: Measured) -> Headline:
    return Headline("even", f"nothing stands out: a step takes {in_words(run.step_ns)}")
