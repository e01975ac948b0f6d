"""W&B's machine metrics under Stepscope's names and units, so that both appear in the same charts."""

from __future__ import annotations

import re

_MB = 1 << 20
_PLAIN = {
    "cpu": ("cpu_percent", 1),
    "memory": ("memory_percent", 1),
    "memory_percent": ("memory_percent", 1),
    "proc.memory.rssMB": ("process_rss_bytes", _MB),
    "proc.cpu.threads": ("process_threads", 1),
}
_GPU = {
    "gpu": ("use_percent", 1),
    "memoryAllocated": ("memory_percent", 1),
    "memoryAllocatedBytes": ("memory_bytes", 1),
    "powerWatts": ("power_w", 1),
    "temp": ("temperature_c", 1),
}
_GPU_NAME = re.compile(r"gpu\.(\d+)\.(.+)")


def meter(key: str) -> tuple[str, float]:
    """The series of a machine metric, and its factor.

    >>> meter("gpu.0.powerWatts"), meter("proc.memory.rssMB"), meter("disk.vda.in")
    (('system/gpu0/power_w', 1), ('system/process_rss_bytes', 1048576), ('system/disk/vda/in', 1))
    """
    if key in _PLAIN:
        name, factor = _PLAIN[key]
        return f"system/{name}", factor
    found = _GPU_NAME.fullmatch(key)
    if found is not None:
        name, factor = _GPU.get(found[2], (found[2].replace(".", "/"), 1))
        return f"system/gpu{found[1]}/{name}", factor
    return "system/" + key.replace("/", "_").replace(".", "/").replace("/_/", "/root/"), 1
