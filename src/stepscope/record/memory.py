"""Memory over the step: which storages were alive after each op, by the storages' own ends.

A storage's Python object lives as long as the memory, whoever holds it (a variable, a view, an autograd node), so a
weak reference to it tells when it is freed. What kernels take for themselves while they run is not seen here; on CUDA
the allocator's own peak is beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from stepscope.record.op_observer import Observer

if TYPE_CHECKING:
    from stepscope.record.step_builder import Drafts


class MemoryObserver(Observer):
    """Leaves `notes["memory"]`: live bytes after each op, the peak and its op, and the allocator's peak on CUDA.

    peak_bytes: the most that was alive at once · peak_op: after which op · parameter_bytes: of it, parameters and
    buffers met · made_bytes: all memory made by the step's ops · live_bytes: one number per op.
    """

    def __init__(self) -> None:
        self._lives: list[Any] = []
        self._cuda_before: dict[int, tuple[int, int]] = {}
        self._cuda_now: dict[str, dict[str, int | bool]] = {}

    def start(self, drafts: Drafts) -> None:
        drafts.tensors.lives = self._lives
        if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
            self._cuda_before = {
                device: (torch.cuda.memory_allocated(device), torch.cuda.max_memory_allocated(device))
                for device in range(torch.cuda.device_count())
            }

    def finish(self, drafts: Drafts) -> None:
        drafts.tensors.lives = None
        events, self._lives = self._lives, list(self._lives)
        events.clear()  # the weak references add to it when something is freed: without this they would hold each other
        self._cuda_now = self._cuda()

    def build(self, drafts: Drafts) -> None:
        account = _Account()
        events, ended = iter(self._lives), iter(drafts.ended)
        for event in events:
            if event is None:
                account.mark(next(ended).index)
            elif type(event) is int:
                account.meet(event, next(events), next(events), next(events), next(events))
            else:
                account.free(event)
        self._lives = []
        note = account.note()
        if self._cuda_now:
            note["cuda"] = self._cuda_now
        drafts.notes["memory"] = note

    def _cuda(self) -> dict[str, dict[str, int | bool]]:
        """Per device: allocated before, and the peak; `exact` is false when an older peak was higher than ours."""
        found: dict[str, dict[str, int | bool]] = {}
        for device, (allocated, peak) in self._cuda_before.items():
            now = torch.cuda.max_memory_allocated(device)
            found[f"cuda:{device}"] = {"before_bytes": allocated, "peak_bytes": now, "exact": now > peak}
        return found


class _Account:
    """Adds up what `Tensors.lives` holds.

    Five items for a storage met, a weak reference for one that was freed, None for an op that ended.
    """

    def __init__(self) -> None:
        self._sizes: dict[Any, tuple[int, int]] = {}
        self._keys: set[int] = set()
        self._live = self._made = self._parameters = 0
        self._after: list[int] = []
        self._peak = (0, -1)

    def meet(self, key: int, size: int, made: bool, kind: str, ref: Any) -> None:
        if key in self._keys:
            return
        self._keys.add(key)
        self._sizes[id(ref)] = (key, size)
        self._live += size
        if made:
            self._made += size
        elif kind == "parameter":
            self._parameters += size

    def free(self, ref: Any) -> None:
        known = self._sizes.pop(id(ref), None)
        if known is not None:
            self._keys.discard(known[0])
            self._live -= known[1]

    def mark(self, index: int) -> None:
        """An op has ended; one without an index was only a question."""
        if index < 0:
            return
        live = self._live
        self._after.extend([live] * (index + 1 - len(self._after)))
        self._after[index] = live
        if live > self._peak[0]:
            self._peak = (live, index)

    def note(self) -> dict[str, Any]:
        return {
            "peak_bytes": self._peak[0],
            "peak_op": self._peak[1],
            "parameter_bytes": self._parameters,
            "made_bytes": self._made,
            "live_bytes": self._after,
        }
