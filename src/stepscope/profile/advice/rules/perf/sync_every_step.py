from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stepscope.diagnose.rule import rule
from stepscope.profile.advice.device_work import DeviceWork
from stepscope.profile.advice.measured import Measured
from stepscope.profile.advice.tip import Tip

_WAITS = frozenset((
    "item", "float", "int", "bool", "tolist", "numpy", "cpu", "print", "nonzero", "masked_select", "unique", "equal",
    "allclose", "argwhere", "bincount", "unique_consecutive", "index", "contains",
))  # fmt: skip


@rule("perf.sync-every-step", needs="profile", device="gpu")
def sync_every_step(run: Measured) -> Iterator[Tip]:
    """The host stops in every step to read a value from the device.

    Why it matters: `.item()`, `float(x)`, `print(x)`, `if x > 0` and `nonzero` wait until the device has done
    everything it was given. After that its queue is empty, and it idles until Python has started the next
    kernels.

    What to do: keep the value on the device (`total += loss.detach()`) and read it every hundred steps, or at
    the end of the epoch.

    How it is found: lines that read values of the device in every step, and the time the host waited in them. Without
    the waits a step takes as long as the host or the device, whichever is longer; the saving is the difference.

    Bad:
        running += loss.item()
    Good:
        running += loss.detach()    # and running.item() when it is printed
    """
    gpu = run.gpu
    if gpu is None:
        return
    lines = {
        where: [one for one in calls if one["op"] in _WAITS and one.get("device", "cpu") != "cpu" and one["every_step"]]
        for where, calls in run.by_line(run.calls(fetching=False)).items()
    }
    lines = {where: calls for where, calls in lines.items() if calls}
    if not lines:
        yield from _without_lines(run, gpu)
        return
    total = max(1, sum(_time(calls) for calls in lines.values()))
    lost = min(run.of_look(total), run.idle_beside_data_ns)
    for where, calls in sorted(lines.items(), key=lambda one: -_time(one[1]))[:3]:
        part = _time(calls) / total
        ways = sorted({one["op"] for one in calls})
        yield Tip(
            where=where,
            message=f"the host waits for the device here in every step ({', '.join(ways)})",
            fix="keep the value on the device and read it every hundred steps",
            share=run.share(lost * part),
            saving_ns=int(lost * part),
            how="the waits, as far as the device is idle in the step",
            evidence={"waits": sum(one["calls"] for one in calls), "waited_ms": round(_time(calls) / 1e6, 3)},
            part="idle",
        )


def _without_lines(run: Measured, gpu: DeviceWork) -> Iterator[Tip]:
    """A trace that somebody else recorded: the operators are known, the lines are not."""
    by_op = {name: found for name, found in gpu.waits_by_op().items() if found[0] >= 0.9}
    if not by_op:
        return
    lost = min(run.on_host(gpu.per_step(gpu.waits)), run.idle_beside_data_ns)
    name, (count, waited) = max(by_op.items(), key=lambda one: one[1][1])
    yield Tip(
        where=None,
        message=f"the host waits for the device {count:.0f}x a step in {name or 'synchronize()'}",
        fix="keep values on the device and read them every hundred steps",
        share=run.share(lost),
        saving_ns=lost,
        how="the waits, as far as the device is idle in the step",
        evidence={"waits": round(count, 1), "waited_ms": round(waited / 1e6, 3)},
        part="idle",
    )


def _time(calls: list[dict[str, Any]]) -> int:
    return sum(int(one["ns"]) for one in calls)
