"""Linters: TorchFix, which knows PyTorch, and Ruff with its rules about bugs. They read the script and run nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

REQUIREMENTS = ["torchfix==0.7.0", "ruff==0.17.5"]
STATIC = True
NAMES: dict[str, dict[str, tuple[str, ...]]] = {
    "TorchFix": {
        "TOR001": ("api.deprecated",),
        "TOR002": ("api.deprecated",),
        "TOR003": ("api.deprecated",),
        "TOR004": ("api.deprecated",),
        "TOR101": ("api.deprecated",),
        "TOR102": ("io.weights-only",),
        "TOR104": ("api.*",),
        "TOR105": ("api.*",),
        "TOR108": ("num.unstable-form",),
        "TOR201": ("api.deprecated",),
        "TOR202": ("api.deprecated",),
        "TOR203": ("api.deprecated",),
        "TOR401": ("perf.dataloader-bound",),
        "TOR402": ("perf.*",),
    },
    "ruff (F, B, PLE, PLW)": {
        "F811": ("name.rebound", "api.*"),
        "F821": ("name.undefined",),
        "F841": ("api.dropped-result", "loss.overwritten", "grad.unused-result"),
        "B006": ("data.aliased-buffer",),
        "B018": ("api.dropped-result",),
        "B023": ("name.rebound",),
        "PLW0127": ("name.rebound",),
        "PLW2901": ("name.rebound", "loss.overwritten"),
    },
}


def suited(entries: list[Any]) -> list[Any]:
    return entries


def warm_up() -> None:
    """Nothing is imported."""


def begin(tool: str, script: str, faults: list[str]) -> Callable[[str, str], list[dict[str, Any]]]:
    def end(printed: str, complained: str) -> list[dict[str, Any]]:
        return _torchfix(script) if tool == "TorchFix" else _ruff(script)

    return end


def _torchfix(script: str) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "torchfix", "--select=ALL", script]
    done = subprocess.run(command, capture_output=True, text=True)
    found = []
    for line in done.stdout.splitlines():  # train.py:12:5: TOR401 Detected ...
        place, _, rest = line.partition(": ")
        kind, _, said = rest.partition(" ")
        if kind.startswith("TOR"):
            found.append({"kind": kind, "loud": True, "said": said, "line": int(place.split(":")[1])})
    return found


def _ruff(script: str) -> list[dict[str, Any]]:
    command = [
        sys.executable,
        "-m",
        "ruff",
        "check",
        "--isolated",
        "--select",
        "F,B,PLE,PLW",
        "--output-format",
        "json",
    ]
    done = subprocess.run([*command, script], capture_output=True, text=True)
    return [
        {"kind": one["code"], "loud": True, "said": one["message"], "line": one["location"]["row"]}
        for one in json.loads(done.stdout or "[]")
    ]
