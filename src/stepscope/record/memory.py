"""Memory over the step: which storages were alive after each op, by the storages' own ends.

A storage's Python object lives as long as the memory, whoever holds it (a variable, a view, an autograd node), so a
weak reference to it tells when it is freed. What kernels take for themselves while they run is not seen here; on CUDA
the allocator's own peak stands beside.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import torch

from stepscope.record.identity import is_tensor_type
from stepscope.record.observer import Observer, OpCall

if TYPE_CHECKING:
    from stepscope.record.drafts import Drafts, OpDraft

__all__ = ["MemoryObserver"]


class MemoryObserver(Observer):
    """Leaves `notes["memory"]`: live bytes after each op, the peak and its op, and the allocator's peak on CUDA.

    peak_bytes: the most that was alive at once · peak_op: after which op · parameter_bytes: of it, parameters and
    buffers met · made_bytes: all memory made by the step's ops · live_bytes: one number per op.
    """

    def __init__(self) -> None:
        self._refs: dict[int, Any] = {}
        self._live = 0
        self._made = 0
        self._parameters = 0
        self._after: list[int] = []
        self._peak = (0, -1)
        self._drafts: Drafts | None = None
        self._cuda_before: dict[int, tuple[int, int]] = {}

    def start(self, drafts: Drafts) -> None:
        self._drafts = drafts
        if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
            self._cuda_before = {
                device: (torch.cuda.memory_allocated(device), torch.cuda.max_memory_allocated(device))
                for device in range(torch.cuda.device_count())
            }

    def before(self, call: OpCall) -> None:
        for tensor in call.inputs:
            self._meet(tensor, made=False)

    def after(self, call: OpCall) -> None:
        for tensor in call.outputs:
            self._meet(tensor, made=True)
        self._mark(call.draft.index)

    def backward_before(self, draft: OpDraft, gradients: Sequence[Any]) -> None:
        self._meet_all(gradients)

    def backward_after(self, draft: OpDraft, produced: Sequence[Any], gradients: Sequence[Any]) -> None:
        self._meet_all(produced)
        self._mark(draft.index)

    def _meet_all(self, tensors: Iterable[Any]) -> None:
        for tensor in tensors:
            if tensor is not None and is_tensor_type(type(tensor)):
                self._meet(tensor, made=True)

    def _meet(self, tensor: Any, made: bool) -> None:
        try:
            storage = tensor.untyped_storage()
        except (RuntimeError, NotImplementedError):
            return
        key = storage._cdata
        known = self._refs.get(key)
        if known is not None and known() is storage:
            return
        size = int(storage.nbytes())
        refs = self._refs

        def gone(ref: Any) -> None:
            self._live -= size
            if refs.get(key) is ref:
                del refs[key]

        refs[key] = weakref.ref(storage, gone)
        self._live += size
        if made:
            self._made += size
        elif isinstance(tensor, torch.nn.Parameter):
            self._parameters += size

    def _mark(self, index: int) -> None:
        live = self._live
        self._after.extend([live] * (index + 1 - len(self._after)))
        if 0 <= index < len(self._after):
            self._after[index] = live
        if live > self._peak[0]:
            self._peak = (live, index)

    def finish(self, drafts: Drafts) -> None:
        self._refs.clear()
        note: dict[str, Any] = {
            "peak_bytes": self._peak[0],
            "peak_op": self._peak[1],
            "parameter_bytes": self._parameters,
            "made_bytes": self._made,
            "live_bytes": self._after,
        }
        cuda = self._cuda()
        if cuda:
            note["cuda"] = cuda
        drafts.notes["memory"] = note

    def _cuda(self) -> dict[str, dict[str, int | bool]]:
        """Per device: allocated before, and the peak; `exact` is false when an older peak was higher than ours."""
        found: dict[str, dict[str, int | bool]] = {}
        for device, (allocated, peak) in self._cuda_before.items():
            now = torch.cuda.max_memory_allocated(device)
            found[f"cuda:{device}"] = {"before_bytes": allocated, "peak_bytes": now, "exact": now > peak}
        return found
