"""mldoct: `check` reads the source, `watch` what is printed, `diagnose` a table of losses and gradient norms.

Driven: `check` and `watch` as they are, the printed text handed to `watch` instead of a process of its own. `diagnose`
wants columns no script writes, so they are made for it, a row for each step: the loss, the norm of all gradients, and
the last loss computed without gradients (the training loss where there is none). It answers with one condition, always.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

REQUIREMENTS = ["torch==2.13.0", "numpy", "scikit-learn", "mldoct==1.0.0"]
_NONFINITE = ("num.*", "data.nan-input", "opt.lr-too-high", "grad.exploding", "amp.*", "init.scale")
NAMES: dict[str, dict[str, tuple[str, ...]]] = {
    "mldoct check + watch": {
        "cpu_bottleneck": ("perf.*",),
        "missing_eval": ("mode.no-eval",),
        "oom_leak": ("mem.*",),
        "missing_zero_grad": ("opt.no-zero-grad",),
        "double_softmax": ("loss.softmax-before-ce",),
        "CRITICAL INSTABILITY DETECTED": _NONFINITE,
        "WARNING: Loss value exploded": ("opt.lr-too-high", "grad.exploding", "num.*", "loss.sign", "opt.no-zero-grad"),
    },
    "mldoct diagnose": {
        "missing_zero_grad": ("opt.no-zero-grad",),
        "exploding_gradients": (*_NONFINITE, "opt.no-zero-grad", "loss.sign"),
        "lr_too_high": ("opt.lr-too-high", "opt.momentum", "grad.exploding", "num.*"),
        "lr_too_low": ("opt.lr-too-low", "opt.lambda-absolute-lr", "opt.scheduler-per-micro"),
        "vanishing_gradients": ("grad.*", "opt.no-step", "init.*", "loss.double-sigmoid", "autograd.rewrapped-loss"),
        "underfitting": ("opt.*", "model.*", "loss.*", "grad.*", "init.*", "mode.*"),
        "overfitting": ("data.*", "mode.*", "model.dropout-rate"),
        "label_noise": ("data.label-*", "data.target-*", "data.no-shuffle"),
        "high_variance_batch": ("mode.bn-small-batch", "data.drop-last-tiny", "data.no-shuffle"),
    },
}  # fmt: skip
HEALTHY = ("healthy", "Healthy Training")


def suited(entries: list[Any]) -> list[Any]:
    return entries


def warm_up() -> None:
    import mldoctor.advisor
    import mldoctor.linter
    import mldoctor.watchdog  # noqa: F401


def begin(tool: str, script: str, faults: list[str]) -> Callable[[str, str], list[dict[str, Any]]]:
    if tool == "mldoct diagnose":
        return _diagnose(faults)
    return lambda printed, complained: [*_check(script), *_watch(script, printed + complained)]


def _check(script: str) -> list[dict[str, Any]]:
    from mldoctor.linter import lint_script

    findings, _ = lint_script(script)
    return [
        {"kind": f["type"], "loud": f["severity"] != "INFO", "said": f["message"], "line": f["line"]} for f in findings
    ]


def _watch(script: str, printed: str) -> list[dict[str, Any]]:
    """Its own loop over the output, with the output already there."""
    from mldoctor import watchdog
    from rich.console import Console

    said = io.StringIO()

    class Process:
        stdout = io.StringIO(printed)
        returncode = 0

        def terminate(self) -> None: ...

        def wait(self) -> None: ...

    class Subprocess:
        PIPE = STDOUT = None

        @staticmethod
        def Popen(*args: Any, **kwargs: Any) -> Process:
            return Process()

    watchdog.console = Console(file=said, width=200)
    watchdog.subprocess = Subprocess
    watchdog.GPUProfiler.track_vram = lambda self, process: None  # it asks nvidia-smi for ever
    watchdog.run_watchdog(script)
    kinds = ("CRITICAL INSTABILITY DETECTED", "WARNING: Loss value exploded", "SMART EARLY STOPPING TRIGGERED")
    return [{"kind": kind, "loud": True, "said": kind, "line": None} for kind in kinds if kind in said.getvalue()]


def _diagnose(faults: list[str]) -> Callable[[str, str], list[dict[str, Any]]]:
    import torch

    from diagnosers.seen import Seen

    rows: list[dict[str, float]] = []

    def stepped(optimizer: Any, loss: float | None) -> None:
        gradients = [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        if loss is None or not gradients:
            return
        norm = float(torch.linalg.vector_norm(torch.stack([g.detach().to_dense().norm().float() for g in gradients])))
        held_out = seen.quiet_losses[-1] if seen.quiet_losses else loss
        rows.append({"epoch": len(rows) + 1, "train_loss": loss, "val_loss": held_out, "grad_norm": norm})

    seen = Seen(lambda model, optimizer: None, stepped)

    def end(printed: str, complained: str) -> list[dict[str, Any]]:
        if not rows:
            faults.append("no step was taken: not driven")
            return []
        with open("metrics.csv", "w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        from mldoctor.advisor import diagnose_csv

        told = diagnose_csv(str(Path("metrics.csv").absolute()))
        return [{"kind": told["label"], "loud": told["label"] not in HEALTHY, "said": told["title"], "line": None}]

    return end
