"""Facts of the process: hardware, switches, optimizers, models. Read off torch's own attributes; nothing is changed."""

from __future__ import annotations

import os
import statistics
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import psutil

if TYPE_CHECKING:
    from torch.optim import Optimizer

_ENVIRONMENT = (
    "CUDA_LAUNCH_BLOCKING", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "PYTORCH_CUDA_ALLOC_CONF",
    "PYTORCH_NO_CUDA_MEMORY_CACHING", "TORCH_DISTRIBUTED_DEBUG", "NCCL_DEBUG", "NVIDIA_TF32_OVERRIDE",
)  # fmt: skip


def step_figures(count: int, walls: list[tuple[int, int, int, int, int]]) -> dict[str, Any]:
    """The typical step: the mean over steps that Stepscope has not slowed down, without the first third (warm-up) and
    the slowest twentieth (evaluation between two steps). A mean, because workers deliver in bursts."""
    settled = walls[len(walls) // 3 :] if len(walls) > 6 else walls[1:] or walls
    every = [step[0] for step in settled]
    settled = sorted(settled)[: max(1, len(settled) - (len(settled) + 9) // 20)]
    figures: dict[str, Any] = {"count": count, "measured": len(settled)}
    if settled:
        names = ("wall_ns", "data_ns", "optimizer_ns", "zero_grad_ns", "work_ns")
        for name, values in zip(names, zip(*settled, strict=True), strict=True):
            figures[name] = int(statistics.fmean(values))
        figures["first_ns"] = [step[0] for step in walls[:3]]
        figures["median_ns"], figures["mean_ns"] = int(statistics.median(every)), int(statistics.fmean(every))
    return figures


def device(torch: ModuleType) -> dict[str, Any]:
    """The accelerator the process has used; `{"kind": "cpu"}` when it used none.

    `cuda.is_available()` is never asked: it starts the driver, and processes forked after that cannot use it.
    """
    if torch.cuda.is_initialized():
        index = torch.cuda.current_device()
        about = torch.cuda.get_device_properties(index)
        stats = torch.cuda.memory_stats(index)
        return {
            "kind": "rocm" if torch.version.hip else "cuda",
            "name": about.name,
            "capability": [about.major, about.minor],
            "sms": about.multi_processor_count,
            "total_bytes": about.total_memory,
            "peak_bytes": stats.get("allocated_bytes.all.peak", 0),
            "peak_reserved_bytes": stats.get("reserved_bytes.all.peak", 0),
            "alloc_retries": stats.get("num_alloc_retries", 0),
            "count": torch.cuda.device_count(),
        }
    if getattr(getattr(torch, "xpu", None), "is_initialized", lambda: False)():
        return {"kind": "xpu"}
    if torch.backends.mps.is_available():
        return {"kind": "mps"}
    return {"kind": "cpu"}


def memory_now(torch: ModuleType) -> tuple[int, int]:
    """Bytes (allocated on the device, resident on the host)."""
    on_device = torch.cuda.memory_allocated() if torch.cuda.is_initialized() else 0
    return int(on_device), int(psutil.Process().memory_info().rss)


def cpu(torch: ModuleType) -> dict[str, Any]:
    return {
        "cores": usable_cores(),
        "threads": torch.get_num_threads(),
        "interop_threads": torch.get_num_interop_threads(),
        "memory_bytes": psutil.virtual_memory().total,
    }


def usable_cores() -> int:
    """What this process may use: its affinity, and its container's quota."""
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        cores = os.cpu_count() or 1
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()[:2]
        if quota != "max":
            cores = min(cores, max(1, round(int(quota) / int(period))))
    except (OSError, ValueError):
        pass
    return cores


def environment() -> dict[str, str]:
    return {name: os.environ[name][:200] for name in _ENVIRONMENT if name in os.environ}


def flags(torch: ModuleType) -> dict[str, Any]:
    """The switches as they are in the middle of training."""
    cudnn = torch.backends.cudnn
    return {
        "anomaly": bool(torch.is_anomaly_enabled()),
        "deterministic": bool(torch.are_deterministic_algorithms_enabled()),
        "cudnn_benchmark": bool(cudnn.benchmark),
        "cudnn_deterministic": bool(cudnn.deterministic),
        "matmul_precision": str(torch.get_float32_matmul_precision()),
        "default_dtype": str(torch.get_default_dtype()).removeprefix("torch."),
    }


def is_compiled() -> bool:
    """Whether dynamo has compiled anything in this process."""
    utils = sys.modules.get("torch._dynamo.utils")
    counters = getattr(utils, "counters", None)
    return bool(counters and (counters["stats"]["unique_graphs"] or counters["frames"]["total"]))


def graphs_made() -> int | None:
    """How many graphs dynamo has compiled so far; None when it was never used."""
    utils = sys.modules.get("torch._dynamo.utils")
    counters = getattr(utils, "counters", None)
    return int(counters["stats"]["unique_graphs"]) if counters else None


def compile_counts() -> dict[str, Any]:
    utils = sys.modules.get("torch._dynamo.utils")
    counters = getattr(utils, "counters", None)
    if not counters:
        return {"used": False}
    return {
        "used": is_compiled(),
        "graphs": int(counters["stats"]["unique_graphs"]),
        "breaks": sum(int(count) for count in counters["graph_break"].values()),
        "break_reasons": [str(reason)[:200] for reason in list(counters["graph_break"])[:5]],
        "recompile_limit": int(counters["unimplemented"].get("recompile_limit", 0)),
    }


def describe_optimizer(optimizer: Optimizer, made: tuple[str, int] | None = None) -> dict[str, Any]:
    groups = list(optimizer.param_groups)
    tensors = [tensor for group in groups for tensor in group["params"]]
    return {
        "class": type(optimizer).__name__,
        "made": made,
        "ours": type(optimizer).__module__.startswith("torch.optim"),
        "foreach": groups[0].get("foreach") if groups else None,
        "fused": groups[0].get("fused") if groups else None,
        "has_foreach": bool(groups) and "foreach" in groups[0],
        "has_fused": bool(groups) and "fused" in groups[0],
        "capturable": bool(groups and groups[0].get("capturable")),
        "differentiable": bool(groups and groups[0].get("differentiable")),
        "tensors": len(tensors),
        "numbers": sum(tensor.numel() for tensor in tensors),
        "devices": sorted({tensor.device.type for tensor in tensors}),
        "dtypes": sorted({str(tensor.dtype).removeprefix("torch.") for tensor in tensors}),
    }


def describe_model(model: Any) -> dict[str, Any]:
    """A root module, in figures."""
    kinds: dict[str, int] = {}
    four_d = channels_last = 0
    for module in model.modules():
        kinds[type(module).__name__] = kinds.get(type(module).__name__, 0) + 1
        if type(module).__name__ != "Conv2d":
            continue
        weight = module._parameters.get("weight")  # not the attribute: reading a parametrized one computes it
        if weight is not None and weight.dim() == 4 and weight.shape[1] > 1:
            four_d += 1
            channels_last += bool(weight.stride(1) == 1 and weight.stride(0) != 1)
    parameters = list(model.parameters())
    return {
        "class": type(model).__name__,
        "kinds": kinds,
        "parameters": sum(one.numel() for one in parameters),
        "tensors": len(parameters),
        "dtypes": sorted({str(one.dtype).removeprefix("torch.") for one in parameters}),
        "devices": sorted({one.device.type for one in parameters}),
        "convolutions": four_d,
        "channels_last": channels_last,
        "data_parallel": type(model).__name__ == "DataParallel",
        "distributed": type(model).__name__ == "DistributedDataParallel",
        "bucket_cap_mb": getattr(model, "bucket_bytes_cap", 0) // (1 << 20)
        if hasattr(model, "bucket_bytes_cap")
        else None,
        "find_unused_parameters": bool(getattr(model, "find_unused_parameters", False)),
        "checkpointing": bool(getattr(model, "is_gradient_checkpointing", False)),
    }
