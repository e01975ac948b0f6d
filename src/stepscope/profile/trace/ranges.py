"""Spans that tell what the training loop was doing: loading data, optimizing, going back, communicating."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from stepscope.profile.trace.trace import Trace

Rows = npt.NDArray[Any]

BACKWARD = "autograd::engine::evaluate_function"


def is_data_loading(name: str) -> bool:
    """Torch's own mark around a DataLoader's `__next__`.

    >>> is_data_loading("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__")
    True
    """
    return name.startswith("enumerate(DataLoader)#")


def is_optimizer(name: str) -> bool:
    """Torch's own marks around an optimizer's `step` and `zero_grad`."""
    return name.startswith(("Optimizer.step#", "Optimizer.zero_grad#"))


def is_communication(name: str) -> bool:
    """A collective as the host sees it, whatever carries it.

    >>> is_communication("gloo:all_reduce"), is_communication("c10d::allreduce_"), is_communication("aten::add")
    (True, True, False)
    """
    return name.startswith(("gloo:", "nccl:", "ucc:", "mpi:", "xccl:", "c10d::", "_c10d_functional::"))


def collective_rows(trace: Trace) -> Rows:
    """Collectives on the device; without any there, those a backend of the host carries out (gloo, mpi)."""
    from stepscope.profile.trace.kinds import Kind

    on_device = np.flatnonzero(trace.is_collective)
    if len(on_device):
        return on_device
    carried = trace.events.named(lambda name: name.startswith(("gloo:", "ucc:", "mpi:")))
    return np.flatnonzero(carried & (trace.kind == Kind.ANNOTATION.value) & ~trace.is_alone)


def is_step_mark(name: str) -> bool:
    """The mark of a step, by torch's profiler or by us: it spans everything and says nothing."""
    return name.startswith(("ProfilerStep", "StepscopeStep"))


def is_sync_call(name: str) -> bool:
    """A runtime call that returns when the device has got somewhere: its time is waiting.

    >>> is_sync_call("cudaStreamSynchronize"), is_sync_call("hipDeviceSynchronize"), is_sync_call("cudaLaunchKernel")
    (True, True, False)
    """
    return "Synchronize" in name or name in {"cudaMemcpy", "hipMemcpy", "cuMemcpyDtoH_v2", "cuMemcpyHtoD_v2"}


def plain_op_name(name: str) -> str:
    """A node of backward by its own name, not the engine's.

    >>> plain_op_name("autograd::engine::evaluate_function: AddmmBackward0"), plain_op_name("aten::mm")
    ('backward: AddmmBackward0', 'aten::mm')
    """
    return f"backward: {name.removeprefix(BACKWARD).lstrip(': ')}" if name.startswith(BACKWARD) else name


def data_rows(trace: Trace) -> Rows:
    """Where the loop waited for data: our own phase rows, else torch's marks."""
    from stepscope.profile.trace.kinds import Kind

    events = trace.events
    phase = events.name_index.get("data")
    if phase is not None:
        found = np.flatnonzero((trace.kind == Kind.PHASE.value) & (events.name == phase))
        if len(found):
            return found
    return np.flatnonzero(events.named(is_data_loading) & (trace.kind == Kind.ANNOTATION.value))
