"""Total costs of many ops, distinguishing unknown from zero."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from stepscope.records.step import Op


def op_time(op: Op) -> float | None:
    """On the device if measured there, else on the host.

    None for the call of `backward()` itself: without its ops, the rest is mostly the recording's own hooks.
    """
    if op.phase == "backward" and op.name in ("backward", "grad") and op.forward is None:
        return None
    cost = op.cost
    return cost.device_us if cost.device_us is not None else cost.host_us


class Tally:
    """Sums over ops; a sum without known values stays None."""

    __slots__ = (
        "backward_flops",
        "backward_us",
        "flops",
        "forward_us",
        "macs",
        "ops",
        "saved_bytes",
        "time_us",
        "unknown",
    )

    def __init__(self, ops: Iterable[Op] = ()) -> None:
        self.ops = 0
        self.time_us: float | None = None
        self.forward_us: float | None = None
        self.backward_us: float | None = None
        self.flops: int | None = None
        self.backward_flops: int | None = None
        self.macs: int | None = None
        self.saved_bytes = 0
        self.unknown: dict[str, int] = {}
        for op in ops:
            self.add(op)

    def add(self, op: Op) -> None:
        self.ops += 1
        took = op_time(op)
        cost = op.cost
        backward = op.phase == "backward"
        if took is not None:
            self._add_time(op, took)
        if cost.flops is None:
            if not op.view and not backward and op.phase != "optimizer" and op.error is None:
                self.unknown[op.name] = self.unknown.get(op.name, 0) + 1
        elif backward:
            self.backward_flops = (self.backward_flops or 0) + cost.flops
        else:
            self.flops = (self.flops or 0) + cost.flops
        if cost.macs is not None and not backward:
            self.macs = (self.macs or 0) + cost.macs
        self.saved_bytes += cost.saved_bytes

    def _add_time(self, op: Op, took: float) -> None:
        self.time_us = (self.time_us or 0) + took
        if op.phase == "backward":
            self.backward_us = (self.backward_us or 0) + took
        elif op.phase != "optimizer":
            self.forward_us = (self.forward_us or 0) + took

    def cells(self, *, both_ways: bool = False) -> dict[str, Any]:
        """By column; `both_ways` adds backward FLOPs to `flops`, for rows that are not about a module."""
        flops = self.flops or (None if self.unknown else self.flops)  # unknown is not zero
        if both_ways and self.backward_flops is not None:
            flops = (flops or 0) + self.backward_flops
        return {
            "ops": self.ops,
            "time_us": self.time_us,
            "forward_us": self.forward_us,
            "backward_us": self.backward_us,
            "flops": flops,
            "backward_flops": self.backward_flops,
            "macs": self.macs,
            "saved_bytes": self.saved_bytes,
        }


def footnotes(total: Tally) -> list[str]:
    """What the FLOPs do not include."""
    if total.flops is None or not total.unknown:
        return []
    names = [f"{name} {times}×" if times > 1 else name for name, times in Counter(total.unknown).most_common(8)]
    more = f" and {len(total.unknown) - 8} other kinds" if len(total.unknown) > 8 else ""
    many = sum(total.unknown.values())
    what = "1 op" if many == 1 else f"{many} ops"
    return [f"FLOPs exclude {what} without a formula: {', '.join(names)}{more}"]
