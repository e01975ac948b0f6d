"""The checks behind `stepscope doctor`. Heavy packages are imported only on request."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from importlib import machinery, metadata
from pathlib import Path
from typing import Any

from stepscope import __version__
from stepscope.common.units import bytes_text
from stepscope.events.doors import DOORS
from stepscope.events.points import POINTS
from stepscope.events.presence import presence

LITTLE_BYTES = 1 << 30
_PACKAGES = (
    "torch", "numpy", "lightning", "pytorch-lightning", "transformers", "accelerate", "keras", "fastai",
    "pytorch-ignite", "wandb", "mlflow", "tensorboard", "tensorboardX", "nvidia-ml-py",
)  # fmt: skip


def examine(store: Path, with_torch: bool) -> dict[str, Any]:
    """All checks, as plain data."""
    found: dict[str, Any] = {
        "stepscope": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: version for name in _PACKAGES if (version := version_of(name)) is not None},
        "compiled": _compiled(),
        "runs": _folder(store),
        "mode": os.environ.get("STEPSCOPE_MODE") or "on",
        "cuda": _cuda(with_torch),
        "doors": [{"what": door.what, "events": list(door.kinds)} for door in DOORS],
        "selfcheck": _selfcheck() if with_torch and version_of("torch") is not None else None,
    }
    found["points"] = [
        {"address": point.address, "group": point.group, "why": point.why, "presence": presence(point.address)}
        for point in POINTS.values()
    ]
    found["problems"] = problems_in(found)
    return found


def version_of(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


_EXTENSIONS = {"module door": "events/_doors", "operations": "events/_operations", "tape": "record/_tape"}
"""Modules written in C that have a pure-Python fallback."""


def _compiled() -> dict[str, bool]:
    from stepscope.profile.trace.library import library

    package = Path(__file__).parent.parent
    endings = machinery.EXTENSION_SUFFIXES
    there = {
        name: any((package / f"{path}{ending}").exists() for ending in endings) for name, path in _EXTENSIONS.items()
    }
    return {"trace scanner": library() is not None, **there}


def _folder(store: Path) -> dict[str, Any]:
    """Where runs are stored and whether that folder, or its nearest existing parent, is writable."""
    path = store.absolute()
    near = path
    while not near.exists() and near != near.parent:
        near = near.parent
    is_writable = near.is_dir() and os.access(near, os.W_OK | os.X_OK)
    try:
        free = shutil.disk_usage(near).free
    except OSError:
        free = None
    return {"path": str(path), "exists": path.is_dir(), "is_writable": is_writable, "free_bytes": free}


def _cuda(with_torch: bool) -> dict[str, Any]:
    """Devices reported by the driver and, if torch is imported, by torch."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    seen = sorted(str(path.name) for path in Path("/dev").glob("nvidia[0-9]*"))
    found: dict[str, Any] = {"CUDA_VISIBLE_DEVICES": visible, "driver_devices": seen, "torch_devices": None}
    if with_torch and version_of("torch") is not None:
        import torch

        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        found["torch_devices"] = [torch.cuda.get_device_name(number) for number in range(count)]
    return found


def _selfcheck() -> dict[str, Any]:
    from stepscope.events.selfcheck import check

    done = check()
    return {**done._asdict(), "left": list(done.left), "faults": list(done.faults)}


def problems_in(found: dict[str, Any]) -> list[dict[str, str]]:
    """Problems, one line each with what to do. Hints do not count as problems: Stepscope works, but less well."""
    problems: list[dict[str, str]] = []

    def tell(what: str, do: str, kind: str = "problem") -> None:
        problems.append({"kind": kind, "what": what, "do": do})

    runs = found["runs"]
    if "torch" not in found["packages"]:
        tell("torch is not installed for this Python", f"install it for {sys.executable}", "hint")
    if not runs["is_writable"]:
        tell(f"runs cannot be written to {runs['path']}", "choose another folder with STEPSCOPE_DIR or --dir")
    elif runs["free_bytes"] is not None and runs["free_bytes"] < LITTLE_BYTES:
        tell(
            f"only {bytes_text(runs['free_bytes'])} of disk space is free in the runs folder",
            "free some space, or set STEPSCOPE_DIR",
        )
    if found["mode"] == "off":
        tell("STEPSCOPE_MODE is off: nothing is recorded", "unset it to record runs", "hint")
    if not found["compiled"]["trace scanner"]:
        what = "the compiled trace scanner is missing: large traces open slowly"
        tell(what, "install a wheel for this platform, or run scripts/build-compiled", "hint")
    if not all(found["compiled"][name] for name in _EXTENSIONS):
        what = "the compiled hot path is missing: recording costs more"
        tell(what, "install a wheel for this platform, or run scripts/build-compiled", "hint")
    devices = found["cuda"]["torch_devices"]
    if devices == [] and found["cuda"]["driver_devices"] and found["cuda"]["CUDA_VISIBLE_DEVICES"] != "":
        tell("there is a GPU, but torch does not see it", "install a CUDA build of torch that fits the driver")
    for what in [] if found["selfcheck"] is None else _faults_of_ours(found["selfcheck"]):
        tell(what, "report this with the output of doctor --json")
    return problems


def _faults_of_ours(checked: dict[str, Any]) -> list[str]:
    faults = [f"{name} was not restored after Stepscope was removed" for name in checked["left"]]
    faults += [f"Stepscope raised an internal error: {where}" for where in checked["faults"]]
    if not checked["same_bits"]:
        faults.append("training gives different weights with Stepscope")
    return faults
