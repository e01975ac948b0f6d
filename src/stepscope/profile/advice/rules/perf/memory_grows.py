from __future__ import annotations

from collections.abc import Iterator

from stepscope.common.units import bytes_text
from stepscope.diagnose.rule import rule
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip

_DEVICE_BYTES, _HOST_BYTES = 32 << 20, 200 << 20


@rule("perf.memory-grows", needs="profile")
def memory_grows(run: Measured) -> Iterator[Tip]:
    """Memory grows from step to step.

    Why it matters: the training ends when it is full, after hours; before that the allocator gets slower.

    What to do: keep numbers, not tensors with their graphs: `losses.append(loss.item())` or `.detach()`; clear
    lists of outputs; no hooks registered in the loop.

    How it is found: memory in use after the steps 5, 10, 20, 40 ... of the training rose each time, in
    proportion to the steps, by a tenth and by many megabytes.

    Bad:
        losses.append(loss)
    Good:
        losses.append(loss.detach())
    """
    marks = [one for one in run.facts.get("memory", []) if one["step"] >= 10]
    for key, least, name in (("device_bytes", _DEVICE_BYTES, "the device"), ("host_bytes", _HOST_BYTES, "the host")):
        sizes = [int(one[key]) for one in marks]
        steps = [int(one["step"]) for one in marks]
        if len(sizes) < 3 or not sizes[0] or sizes[-1] - sizes[0] < max(least, sizes[0] // 10):
            continue
        rates = [(b - a) / (t - s) for a, b, s, t in zip(sizes, sizes[1:], steps, steps[1:], strict=False) if t > s]
        if not rates or min(rates) <= 0 or max(rates) > 4 * min(rates):
            continue  # a cache that fills up grows less and less
        each = (sizes[-1] - sizes[0]) / (steps[-1] - steps[0])
        yield Tip(
            where=None,
            message=f"memory of {name} grows by {bytes_text(each)} with every step",
            fix="keep numbers (.item(), .detach()), not tensors with their graphs",
            share=0.0,
            saving_ns=0,
            severity="info",
            evidence={
                "bytes_per_step": int(each),
                "from": sizes[0],
                "to": sizes[-1],
                "gain": "no out-of-memory error",
            },
            part="memory",
        )
