"""What the categories of different torch versions and devices mean."""

from __future__ import annotations

# Numbers of `Kind`; by name they would make the two files import each other.
_OTHER, _OP, _RUNTIME, _KERNEL, _MEMCPY, _MEMSET, _ANNOTATION, _DEVICE_ANNOTATION = range(8)
_PYTHON, _MEMORY, _FLOW, _PHASE, _DATA, _SYNC, _OVERHEAD, _TRACE = range(8, 16)

_KINDS = {
    "cpu_op": _OP, "operator": _OP,
    "kernel": _KERNEL, "concurrent_kernel": _KERNEL, "gpu_op": _KERNEL, "mtia_ccp_events": _KERNEL,
    "gpu_memcpy": _MEMCPY, "memcpy": _MEMCPY,
    "gpu_memset": _MEMSET, "memset": _MEMSET,
    "user_annotation": _ANNOTATION, "cpu_user_annotation": _ANNOTATION,
    "gpu_user_annotation": _DEVICE_ANNOTATION,
    "python_function": _PYTHON,
    "phase": _PHASE, "data": _DATA,
    "cuda_sync": _SYNC, "overhead": _OVERHEAD, "trace": _TRACE, "iteration": _TRACE,
    "ac2g": _FLOW, "fwdbwd": _FLOW, "async_cpu_to_gpu": _FLOW, "async_gpu": _FLOW, "forward_backward": _FLOW,
}  # fmt: skip
_SUFFIXES = {"_runtime": _RUNTIME, "_driver": _RUNTIME, "_user_annotation": _DEVICE_ANNOTATION,
             "_memcpy": _MEMCPY, "_memset": _MEMSET, "_kernel": _KERNEL}  # fmt: skip


def kind_of_cat(cat: str) -> int:
    """The number of the `Kind` a category means: CUDA, ROCm, XPU, MTIA, old and new names.

    >>> kind_of_cat("cuda_runtime") == kind_of_cat("xpu_runtime") == kind_of_cat("Runtime") == 2
    True
    """
    lower = cat.lower()
    if lower == "runtime":
        return _RUNTIME
    known = _KINDS.get(lower)
    if known is not None:
        return known
    return next((kind for suffix, kind in _SUFFIXES.items() if lower.endswith(suffix)), _OTHER)
