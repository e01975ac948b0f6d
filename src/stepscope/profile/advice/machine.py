"""What basic things cost on this machine: a worker, a copy, a launch. collect/calibration.py measures them once."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Machine:
    """Times in nanoseconds. The defaults are those of a common server: they count where nothing was measured."""

    hand_over_ns: float = 400_000
    """What a small batch from a worker costs the training: queue, unpickling, shared memory."""
    hand_over_bytes_per_ns: float = 1.0
    """What more it costs for each byte, on both sides."""
    worker_batch_ns: float = 300_000
    """What sending a small batch costs the worker."""
    worker_start_ns: float = 30_000_000
    """A process of a loader: until its first batch is there."""
    copy_bytes_per_ns: float = 10.0
    op_ns: float = 4_000
    """A small torch operation called from Python."""
    threads_gain: float = 0.0
    """How much faster a large product is with all processors; 0: not measured."""
    double_gain: float = 0.0
    """How much faster a large product is in float32 than in float64."""
    launch_ns: float = 25_000
    """Starting one kernel of an accelerator from Python, with autograd."""
    pageable_bytes_per_ns: float = 0.0
    pinned_bytes_per_ns: float = 0.0
    tf32_gain: float = 0.0
    half_gain: float = 0.0
    """A large product in bfloat16 against float32 without tensor cores, on an accelerator."""
    is_measured: bool = False

    @classmethod
    def of(cls, figures: Any) -> Machine:
        """From what facts hold; figures that are missing or cannot be are left at their defaults.

        >>> Machine.of({"op_ns": 2500.0, "threads_gain": "x", "copy_bytes_per_ns": -1.0, "is_measured": True}).op_ns
        2500.0
        """
        if not isinstance(figures, dict):
            return cls()
        known = {one.name for one in fields(cls)} - {"is_measured"}
        good = {
            name: float(value)
            for name, value in figures.items()
            if name in known and isinstance(value, int | float) and 0 < value < 1e12
        }
        return cls(**good, is_measured=bool(good) and figures.get("is_measured") is True)

    def hand_over(self, batch_bytes: float) -> float:
        """What a batch of a worker costs the training."""
        return self.hand_over_ns + batch_bytes / self.hand_over_bytes_per_ns

    def send(self, batch_bytes: float) -> float:
        """What handing a batch over costs the worker that made it."""
        return self.worker_batch_ns + batch_bytes / self.hand_over_bytes_per_ns
