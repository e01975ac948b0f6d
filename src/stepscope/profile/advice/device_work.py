"""What an accelerator did in the typical steps of a trace, in the figures that advice needs."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from stepscope.profile.trace.kernel_names import can_use_tensor_cores, is_tensor_core_kernel, kernel_kind
from stepscope.profile.trace.kinds import Kind
from stepscope.profile.trace.ranges import collective_rows, is_sync_call
from stepscope.profile.trace.step_parts import first_is_odd
from stepscope.profile.trace.trace import Trace

Rows = npt.NDArray[Any]
_WAIT_NS = 15_000
"""A call that returned sooner did not wait: the device had nothing left to do."""


class DeviceWork:
    """Figures are nanoseconds (or counts) a step of the window. Times of the device are what they are without it too;
    times of the host are longer inside a window."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        walls = [step.wall_ns for step in trace.device_steps]
        self.first = 1 if first_is_odd(walls) else 0
        self.steps = max(1, len(walls) - self.first)
        self.step_ns = int(np.mean(walls[self.first :])) if walls else 0

    def rows(self, *kinds: Kind) -> Rows:
        rows = self.trace.rows(*kinds)
        return rows[self.trace.step_of[rows] >= self.first]

    def per_step(self, rows: Rows) -> int:
        return int(self.trace.events.dur[rows].clip(0).sum() // self.steps)

    def named(self, rows: Rows, test: Callable[[str], bool]) -> Rows:
        return np.asarray(rows[self.trace.events.named(test)[rows]])

    # -- the device -----------------------------------------------------------------------------------------------

    @cached_property
    def parts(self) -> dict[str, int]:
        """kernel, communication (exposed), memcpy, memset; and while the device idles: data, runtime, host, other."""
        from stepscope.profile.analyses.steps import steps

        found = steps(self.trace)
        if found is None:
            return {}
        table = np.array(found.parts_ns)[self.first :]
        return {part.key: int(value) for part, value in zip(found.parts, table.mean(axis=0), strict=True)}

    @property
    def busy_ns(self) -> int:
        """In which the device did anything."""
        return sum(self.parts.get(key, 0) for key in ("kernel", "communication", "memcpy", "memset"))

    @cached_property
    def kernels(self) -> Rows:
        """Those that compute."""
        rows = self.rows(Kind.KERNEL)
        return np.asarray(rows[~self.trace.is_collective[rows]])

    @cached_property
    def rows_of_collectives(self) -> Rows:
        """On the device, or carried out by the host."""
        rows = collective_rows(self.trace)
        return np.asarray(rows[self.trace.step_of[rows] >= self.first])

    @cached_property
    def kernel_ns(self) -> int:
        return self.per_step(self.kernels)

    @property
    def kernel_count(self) -> float:
        return len(self.kernels) / self.steps

    @cached_property
    def kinds(self) -> dict[str, int]:
        """Kernel time by the sort of work."""
        events = self.trace.events
        found: dict[str, int] = {}
        names, which = np.unique(events.name[self.kernels], return_inverse=True)
        totals = np.bincount(which, events.dur[self.kernels].clip(0), len(names)) if len(names) else np.zeros(0)
        for name, total in zip(names.tolist(), totals.tolist(), strict=True):
            kind = kernel_kind(events.names[name])
            found[kind] = found.get(kind, 0) + int(total // self.steps)
        return found

    def kernel_time(self, test: Callable[[str], bool]) -> int:
        return self.per_step(self.named(self.kernels, test))

    @cached_property
    def eligible(self) -> Rows:
        """Kernels of operators that tensor cores are made for."""
        events = self.trace.events
        can = np.fromiter((can_use_tensor_cores(name) for name in events.names), bool, len(events.names))
        ops = self.trace.device_op[self.kernels]
        linked = ops >= 0
        mask = np.zeros(len(self.kernels), bool)
        mask[linked] = can[events.name[ops[linked]]]
        products = events.named(lambda name: kernel_kind(name) in ("gemm", "convolution", "attention"))[self.kernels]
        return np.asarray(self.kernels[mask & products])

    @cached_property
    def without_tensor_cores_ns(self) -> int:
        """Time of matrix products that did not use tensor cores."""
        return self.per_step(self.named(self.eligible, lambda name: not is_tensor_core_kernel(name)))

    def copies(self, direction: str) -> Rows:
        """`HtoD (Pageable`, `DtoH`, `DtoD` ..."""
        return self.named(self.rows(Kind.MEMCPY), lambda name: direction in name)

    def copied_bytes(self, rows: Rows) -> int:
        return int(self.trace.events.number("bytes", 0)[rows].sum() // self.steps)

    def occupancy(self) -> tuple[float, float]:
        """(share of the threads a multiprocessor holds, blocks on each), weighted by time; NaN: unknown."""
        events = self.trace.events
        weight = events.dur[self.kernels].clip(0).astype(float)
        found = []
        for key in ("est. achieved occupancy %", "blocks per SM"):
            values = events.real(key)[self.kernels]
            known = ~np.isnan(values) & (weight > 0)
            found.append(float(np.average(values[known], weights=weight[known])) if known.any() else float("nan"))
        return found[0] / 100, found[1]

    def few_blocks_ns(self) -> int:
        """Time of kernels with fewer blocks than there are multiprocessors: part of the device stands still."""
        blocks = self.trace.events.real("blocks per SM")[self.kernels]
        return self.per_step(self.kernels[np.nan_to_num(blocks, nan=9.0) < 1])

    # -- the host -------------------------------------------------------------------------------------------------

    def calls(self, test: Callable[[str], bool]) -> tuple[float, int]:
        """Calls into the runtime: (how many, how long)."""
        rows = self.named(self.rows(Kind.RUNTIME), test)
        return len(rows) / self.steps, self.per_step(rows)

    @cached_property
    def waits(self) -> Rows:
        """Runtime calls in which the host waits for the device; a copy back to the host waits too."""
        calls = self.named(self.rows(Kind.RUNTIME), is_sync_call)
        copies = self.trace.launch[self.copies("DtoH")]
        rows = np.union1d(calls, copies[copies >= 0])
        return np.asarray(rows[self.trace.events.dur[rows] >= _WAIT_NS])

    def waits_by_op(self) -> dict[str, tuple[float, int]]:
        """The outer operator that waited -> (waits, nanoseconds) a step; "" where none was around."""
        trace, found = self.trace, dict[str, tuple[float, int]]()
        for row in self.waits.tolist():
            op, up = -1, int(trace.op_parent[row])
            while up >= 0:
                op, up = up, int(trace.op_parent[up])
            name = trace.events.names[int(trace.events.name[op])] if op >= 0 else ""
            count, total = found.get(name, (0.0, 0))
            found[name] = (count + 1 / self.steps, total + int(trace.events.dur[row]) // self.steps)
        return found
