"""The memory of a training: its peak since a moment, what there is, and whether an error means that it ran out."""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path
from types import ModuleType

_SHARE = 0.8
"""Of what a machine has free: the rest stays for everything else, so that nothing is swapped out."""
_SAID = (
    "out of memory",
    "can't allocate memory",
    "cannot allocate memory",
    "not enough memory",
    "bad_alloc",
    "bad allocation",
    "could not create a memory",
    "could not create a primitive",
)


def is_out_of_memory(error: BaseException | None) -> bool:
    """Whether an exception, or one behind it, says that memory ran out: of CUDA, ROCm, XPU, or the host.

    >>> is_out_of_memory(RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried ..."))
    True
    >>> is_out_of_memory(RuntimeError("shape '[32, 4]' is invalid"))
    False
    """
    seen = 0
    while error is not None and seen < 20:
        text = f"{type(error).__name__} {error}".lower()
        if isinstance(error, MemoryError) or "outofmemory" in text or any(word in text for word in _SAID):
            return True
        error, seen = error.__cause__ or error.__context__, seen + 1
    return False


class Memory:
    """Of the device that trains, or of the process where that is the CPU.

    `asked`: the most bytes it may use; by default what the device has free, or four fifths of what the machine has.
    """

    def __init__(self, on_device: bool, asked: int | None = None) -> None:
        self.on_device = on_device
        self.limit = asked if asked is not None else self._available()
        self._bounded = False

    def _available(self) -> int:
        if self.on_device:
            torch = sys.modules["torch"]
            free, _ = torch.cuda.mem_get_info()
            return int(free + torch.cuda.memory_reserved())
        import psutil

        return int(_SHARE * min(psutil.virtual_memory().available, _left_in_group())) + _status("VmRSS")

    def enforce(self) -> None:
        """From now on an allocation beyond the limit fails with an error, and the machine does not swap."""
        if self._bounded:
            return
        self._bounded = True
        if self.on_device:
            torch: ModuleType = sys.modules["torch"]
            total = torch.cuda.get_device_properties(torch.cuda.current_device()).total_memory
            torch.cuda.set_per_process_memory_fraction(min(1.0, self.limit / total))
        elif sys.platform == "linux":
            # The data segment counts what is reserved, also untouched; so the room is what the limit leaves above now.
            room = max(self.limit - _status("VmRSS"), 16 << 20)
            soft = _status("VmData") + room
            _, hard = resource.getrlimit(resource.RLIMIT_DATA)
            resource.setrlimit(resource.RLIMIT_DATA, (soft if hard < 0 else min(soft, hard), hard))

    def reset_peak(self) -> None:
        if self.on_device:
            sys.modules["torch"].cuda.reset_peak_memory_stats()
            return
        try:
            Path("/proc/self/clear_refs").write_text("5")
        except OSError:  # then the peak is that of the whole process, which only grows
            return

    @property
    def peak_bytes(self) -> int:
        """The most it used since `reset_peak`."""
        if self.on_device:
            return int(sys.modules["torch"].cuda.max_memory_allocated())
        return _status("VmHWM") or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _RSS_UNIT


_RSS_UNIT = 1 if sys.platform == "darwin" else 1024


def _status(key: str) -> int:
    """A size from `/proc/self/status`; 0 where there is none."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(f"{key}:"):
                return int(line.split()[1]) * 1024
    except OSError:
        return 0
    return 0


def _left_in_group() -> int:
    """What the control group of a container leaves of memory."""
    try:
        most = Path("/sys/fs/cgroup/memory.max").read_text().strip()
        used = Path("/sys/fs/cgroup/memory.current").read_text().strip()
        return max(0, int(most) - int(used)) if most != "max" else os.sysconf("SC_PHYS_PAGES") * 4096
    except (OSError, ValueError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
