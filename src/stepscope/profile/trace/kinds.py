"""What an event of a trace is: an operator, a kernel, a copy, an annotation ..."""

from __future__ import annotations

from enum import IntEnum


class Kind(IntEnum):
    """What an event is, whatever the dialect of the trace calls it.

    Compare a column with `.value`, or ask `Trace.are`: for the enum itself numpy makes it eight times as wide first.
    """

    OTHER = 0
    OP = 1
    """An operator on the host: aten::linear, autograd::engine::evaluate_function ..."""
    RUNTIME = 2
    """A call into the device's runtime or driver: cudaLaunchKernel, hipMemcpyAsync ..."""
    KERNEL = 3
    MEMCPY = 4
    MEMSET = 5
    ANNOTATION = 6
    """A span the program named: ProfilerStep#3, record_function, DataLoader, optimizer steps."""
    DEVICE_ANNOTATION = 7
    """The same, as projected on a device's stream."""
    PYTHON = 8
    MEMORY = 9
    """An allocation or a free."""
    FLOW = 10
    PHASE = 11
    """Ours: data, h2d, forward, backward, optimizer."""
    DATA = 12
    """Ours: what DataLoader workers did."""
    SYNC = 13
    """cuda_sync: what a device-side wait waited for."""
    OVERHEAD = 14
    """What the profiler itself cost."""
    TRACE = 15
    """Spans of the profiler: not of the program."""
