"""One process's events and how they belong together: nesting, launches, backward, steps, as columns of rows.

Everything is computed when first asked for, with numpy over whole columns; -1 means "none".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from stepscope.profile.trace.ancestors import around, nearest, nearest_above
from stepscope.profile.trace.dialects import kind_of_cat
from stepscope.profile.trace.events import Events
from stepscope.profile.trace.kernel_names import is_collective_name, is_tensor_core_kernel
from stepscope.profile.trace.kinds import Kind
from stepscope.profile.trace.library import within
from stepscope.profile.trace.nesting import nest
from stepscope.profile.trace.step_spans import StepSpan, device_spans, find_steps

Rows = npt.NDArray[Any]
T = TypeVar("T")


_INFLATED = 1.15


@dataclass(frozen=True)
class Trace:
    """The events of one process (one rank)."""

    events: Events
    rank: int = 0
    world: int = 1
    usual_step_ns: int = 0
    """What a step takes when no profiler is on, by the clock that is always on; 0: not known."""

    def __len__(self) -> int:
        return len(self.events)

    def once(self, make: Callable[[Trace], T]) -> T:
        """What `make` finds in this trace; asked once, then kept: for what several analyses need."""
        key = f"{make.__module__}.{make.__qualname__}"
        if key not in self.__dict__:
            self.__dict__[key] = make(self)
        found: T = self.__dict__[key]
        return found

    # -- what each event is ---------------------------------------------------------------------------------------

    @cached_property
    def kind(self) -> Rows:
        """uint8 of `Kind`."""
        events = self.events
        by_cat = np.fromiter((kind_of_cat(cat) for cat in events.cats), np.uint8, len(events.cats))
        kinds = by_cat[events.cat] if len(by_cat) else np.zeros(0, np.uint8)
        kinds[(events.ph == ord("s")) | (events.ph == ord("t")) | (events.ph == ord("f"))] = Kind.FLOW
        memory = events.name_index.get("[memory]")
        if memory is not None:
            kinds[events.name == memory] = Kind.MEMORY
        return kinds

    def are(self, *kinds: Kind) -> Rows:
        """A mask: events of these kinds."""
        found = self.kind == kinds[0].value
        for kind in kinds[1:]:
            found |= self.kind == kind.value
        return np.asarray(found)

    def rows(self, *kinds: Kind) -> Rows:
        """The rows of these kinds, ascending."""
        return np.flatnonzero(self.are(*kinds))

    @cached_property
    def device_rows(self) -> Rows:
        """Work on a device: kernels, copies, fills."""
        return self.rows(Kind.KERNEL, Kind.MEMCPY, Kind.MEMSET)

    @property
    def has_device(self) -> bool:
        return len(self.device_rows) > 0

    @cached_property
    def is_collective(self) -> Rows:
        """A mask: kernels that communicate between devices."""
        named = self.events.named(is_collective_name) & (self.kind == Kind.KERNEL.value)
        return np.asarray(named & ~self.is_alone)

    @cached_property
    def is_alone(self) -> Rows:
        """A mask: events of a process group of one rank, whose collectives exchange nothing with anyone."""
        said = self.events.header.fields.get("distributedInfo")
        if isinstance(said, dict) and said.get("world_size") == 1:
            return np.ones(len(self), bool)
        return np.asarray(self.events.number("Group size") == 1)

    @cached_property
    def is_tensor_core(self) -> Rows:
        """A mask: kernels that ran on tensor cores, by their names."""
        kernels = self.kind == Kind.KERNEL.value
        full = np.zeros(len(self), bool)
        used = np.unique(self.events.name[kernels])
        passes = np.zeros(len(self.events.names), bool)
        passes[used] = [is_tensor_core_kernel(self.events.names[i]) for i in used.tolist()]
        full[kernels] = passes[self.events.name[kernels]]
        return full

    @cached_property
    def begin_ns(self) -> int:
        """Where the axis begins: the first event of the program itself."""
        real = (self.kind != Kind.TRACE.value) & (self.kind != Kind.FLOW.value)
        return int(self.events.start[real].min()) if real.any() else 0

    @cached_property
    def end_ns(self) -> int:
        real = (self.kind != Kind.TRACE.value) & (self.kind != Kind.FLOW.value)
        return int(self.events.end_of(real).max()) if real.any() else 0

    # -- how they belong together ---------------------------------------------------------------------------------

    @cached_property
    def parent(self) -> Rows:
        """int32: the innermost event of the same lane around each host event (ops, annotations, runtime, Python)."""
        host = self.are(Kind.OP, Kind.RUNTIME, Kind.ANNOTATION, Kind.PYTHON, Kind.PHASE, Kind.DATA)
        rows = np.flatnonzero(host & (self.events.dur >= 0) & (self.events.ph == ord("X")))
        return nest(self.events.lane, self.events.start, self.events.dur, rows)

    @cached_property
    def op_parent(self) -> Rows:
        """int32: the innermost *operator* around each host event, looking through Python frames and annotations."""
        return nearest_above(self.parent, self.kind == Kind.OP.value)

    @cached_property
    def launch(self) -> Rows:
        """int32: for work on a device, the runtime call that launched it (same correlation)."""
        full = np.full(len(self), -1, np.int32)
        correlation = self.events.number("correlation")
        calls, work = self.rows(Kind.RUNTIME), self.device_rows
        calls = calls[correlation[calls] >= 0]
        order = calls[np.argsort(correlation[calls], kind="stable")]
        if not len(order):
            return full
        keys = correlation[order]
        at = np.minimum(np.searchsorted(keys, correlation[work]), len(keys) - 1)
        hit = (keys[at] == correlation[work]) & (correlation[work] >= 0)
        full[work[hit]] = order[at[hit]]
        return full

    @cached_property
    def device_op(self) -> Rows:
        """int32: for work on a device, the innermost operator that launched it; -1 is unlinked, and shown as such."""
        full = np.full(len(self), -1, np.int32)
        work = self.device_rows
        calls = self.launch[work]
        linked = calls >= 0
        full[work[linked]] = self.op_parent[calls[linked]]
        missing = work[full[work] < 0]
        if len(missing):  # no runtime call around: by the External id that both sides carry
            full[missing] = self._op_by_external(missing)
        return full

    def _op_by_external(self, rows: Rows) -> Rows:
        external = self.events.number("External id")
        ops = self.rows(Kind.OP)
        spans = (self.events.ph[ops] == ord("X")) & (self.events.dur[ops] >= 0)
        ops = ops[(external[ops] > 0) & spans]
        order = ops[np.argsort(external[ops], kind="stable")]
        if not len(order):
            return np.full(len(rows), -1, np.int32)
        keys = external[order]
        at = np.minimum(np.searchsorted(keys, external[rows]), len(keys) - 1)
        return np.where(keys[at] == external[rows], order[at], -1).astype(np.int32)

    @cached_property
    def forward_op(self) -> Rows:
        """int32: for each operator of backward, the operator of forward it differentiates (sequence number, thread).

        All operators inside a backward node have its forward. Of several with one number, the last to begin made it.
        """
        events, full = self.events, np.full(len(self), -1, np.int32)
        sequence, thread = events.number("Sequence number"), events.number("Fwd thread id", 0)
        ops = self.rows(Kind.OP)
        nodes = ops[events.named(lambda name: name.startswith("autograd::engine::evaluate_function"))[ops]]
        nodes = nodes[sequence[nodes] >= 0]
        in_node = np.zeros(len(self), bool)
        in_node[nodes] = True
        forward = ops[(sequence[ops] >= 0) & (thread[ops] == 0) & ~in_node[ops]]
        order = forward[np.lexsort((events.start[forward], sequence[forward]))]
        if not len(order) or not len(nodes):
            return full
        keys = sequence[order]
        at = np.searchsorted(keys, sequence[nodes], side="right") - 1
        hit = (at >= 0) & (keys[np.maximum(at, 0)] == sequence[nodes])
        full[nodes[hit]] = order[at[hit]]
        known = full >= 0
        node = nearest(self.op_parent, known)[ops]
        full[ops] = np.where(node >= 0, full[node], -1)
        return full

    @cached_property
    def memory_rows(self) -> Rows:
        """Allocations and frees, in the order of time."""
        rows = self.rows(Kind.MEMORY)
        return np.asarray(rows[np.argsort(self.events.start[rows], kind="stable")])

    @cached_property
    def memory_host(self) -> Rows:
        """int32: for each allocation and free (a row of `memory_rows`), the innermost host event around it."""
        host = self.are(Kind.OP, Kind.RUNTIME, Kind.ANNOTATION, Kind.PYTHON, Kind.PHASE, Kind.DATA)
        spans = np.flatnonzero(host & (self.events.dur >= 0) & (self.events.ph == ord("X")))
        events = self.events
        return around(self.parent, events.lane, events.start, events.end, spans, self.memory_rows)

    @cached_property
    def python_parent(self) -> Rows:
        """int32: the innermost Python call around each host event."""
        return nearest_above(self.parent, self.kind == Kind.PYTHON.value)

    @cached_property
    def slowdown(self) -> float:
        """How many times as long as usual the recorded steps took: the profiler's doing. Work on a device is not slower
        by it, so shares of a step are taken of the usual one. 1.0 when it is not known, or less than noise."""
        if not self.usual_step_ns or not self.steps:
            return 1.0
        factor = float(np.median([step.wall_ns for step in self.device_steps])) / self.usual_step_ns
        return factor if factor >= _INFLATED else 1.0

    # -- steps ----------------------------------------------------------------------------------------------------

    @cached_property
    def steps(self) -> list[StepSpan]:
        """The training steps in the trace, in order; marked by the profiler or ours, else inferred, else one."""
        return find_steps(self)

    @cached_property
    def device_steps(self) -> list[StepSpan]:
        """The same steps by the device's clock: each ends when the work launched in it is done."""
        return device_spans(self)

    @cached_property
    def launched_ns(self) -> Rows:
        """Of each of `device_rows` when the host launched it: the runtime call, else the operator, else its start."""
        work = self.device_rows
        call = np.where(self.launch[work] >= 0, self.launch[work], self.device_op[work])
        return np.asarray(self.events.start[np.where(call >= 0, call, work)])

    @cached_property
    def step_of(self) -> Rows:
        """int16: the index into `steps` of the step each event began in; work on a device belongs to its launch's."""
        if not self.steps:
            return np.full(len(self), -1, np.int16)
        start = self.events.start.copy()
        start[self.device_rows] = self.launched_ns
        begins, ends = ([getattr(step, name) for step in self.steps] for name in ("begin_ns", "end_ns"))
        return within(start, np.array(begins), np.array(ends))
