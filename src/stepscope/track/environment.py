"""A run's environment: command line, machine, packages, some variables. Quick parts at once, slow parts later."""

from __future__ import annotations

import os
import platform
import re
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stepscope.common import clocks
from stepscope.records import Environment
from stepscope.track.git import full_state, quick_state
from stepscope.track.names import code_folder, script_path, working_folder
from stepscope.track.secrets import mask_argv, mask_text, mask_value

_ALLOWED = re.compile(
    r"CUDA_VISIBLE_DEVICES|CUDA_LAUNCH_BLOCKING|CUBLAS_WORKSPACE_CONFIG|NVIDIA_VISIBLE_DEVICES|HIP_VISIBLE_DEVICES"
    r"|OMP_NUM_THREADS|MKL_NUM_THREADS|OPENBLAS_NUM_THREADS|PYTHONHASHSEED|TORCH_[A-Z_]+|PYTORCH_[A-Z_]+|NCCL_[A-Z_]+"
    r"|(LOCAL_|GROUP_|ROLE_)?(RANK|WORLD_SIZE)|MASTER_ADDR|MASTER_PORT|TORCHELASTIC_[A-Z_]+"
    r"|SLURM_(JOB_ID|JOB_NAME|PROCID|LOCALID|NTASKS|NNODES|NODEID|JOB_PARTITION|ARRAY_JOB_ID|ARRAY_TASK_ID)"
    r"|OMPI_COMM_WORLD_(RANK|SIZE|LOCAL_RANK)|CONDA_DEFAULT_ENV|VIRTUAL_ENV|HF_HOME|TOKENIZERS_PARALLELISM"
)
_DIST = re.compile(r"(?P<name>.+?)-(?P<version>[^-]+)(-py[\d.]+)?\.(dist-info|egg-info)")


def quick_facts() -> dict[str, Any]:
    """Fields of `RunMeta` that take a millisecond or two together."""
    return {
        "command": mask_argv(command_line()),
        "cwd": str(working_folder()),
        "script": _script(),
        "host": socket.gethostname(),
        "user": _user(),
        "python": platform.python_version(),
        "platform": f"{sys.platform} {os.uname().release}" if hasattr(os, "uname") else sys.platform,
        "packages": installed_packages(),
        "hardware": {"cpu": cpu_name(), "cpu_count": os.cpu_count() or 0, "memory_bytes": _memory_bytes()},
        "env": allowed_variables(os.environ),
        "git": quick_state(code_folder()),
    }


def slow_facts(with_git: bool = True) -> Environment:
    """What is collected in the background: git's diff, the GPUs."""
    gpus = _gpus()
    return Environment(
        time=clocks.time(),
        git=full_state(code_folder()) if with_git else None,
        hardware={"gpus": gpus} if gpus else {},
    )


def command_line() -> list[str]:
    """How the process was started, including the interpreter's own options if known."""
    return list(getattr(sys, "orig_argv", None) or [sys.executable, *sys.argv])


def allowed_variables(variables: Mapping[str, str]) -> dict[str, str]:
    """Only the variables that explain a run; everything else is omitted."""
    return {name: str(mask_value(name, value)) for name, value in sorted(variables.items()) if _ALLOWED.fullmatch(name)}


def installed_packages() -> dict[str, str]:
    """Names and versions of everything importable, by listing folders: reading each METADATA takes 50 times as long."""
    found: dict[str, str] = {}
    for entry in dict.fromkeys(sys.path):
        try:
            names = os.listdir(entry or ".")
        except OSError:  # a zip file, or a deleted folder
            continue
        for name in names:
            if name.endswith((".dist-info", ".egg-info")) and (match := _DIST.fullmatch(name)):
                found.setdefault(match["name"].replace("_", "-").lower(), match["version"])
    return dict(sorted(found.items()))


def _script() -> str | None:
    path = script_path()
    return mask_text(os.path.abspath(path)) if path is not None else None


def _user() -> str:
    for name in ("USER", "LOGNAME", "USERNAME"):
        if os.environ.get(name):
            return os.environ[name]
    return str(os.getuid()) if hasattr(os, "getuid") else ""


def cpu_name() -> str:
    try:
        with open("/proc/cpuinfo") as lines:
            for line in lines:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:  # not Linux
        pass
    return platform.processor() or platform.machine()


def _memory_bytes() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 0


def _gpus() -> list[dict[str, Any]]:
    """The machine's GPUs, without touching CUDA: a context would cost the training memory."""
    try:
        import pynvml
    except ImportError:
        return _gpus_by_driver()
    try:
        pynvml.nvmlInit()
        handles = [pynvml.nvmlDeviceGetHandleByIndex(each) for each in range(pynvml.nvmlDeviceGetCount())]
        return [
            {"name": _text(pynvml.nvmlDeviceGetName(each)), "memory_bytes": pynvml.nvmlDeviceGetMemoryInfo(each).total}
            for each in handles
        ]
    except pynvml.NVMLError:
        return _gpus_by_driver()


def _gpus_by_driver() -> list[dict[str, Any]]:
    folder = Path("/proc/driver/nvidia/gpus")
    try:
        texts = [(each / "information").read_text() for each in sorted(folder.iterdir())]
    except OSError:
        return []
    models = [re.search(r"^Model:\s*(.+)$", text, re.MULTILINE) for text in texts]
    return [{"name": model.group(1).strip()} for model in models if model]


def _text(name: str | bytes) -> str:
    return name.decode() if isinstance(name, bytes) else name
