"""What each tool's own documentation says to add to a training script."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

REQUIREMENTS = [
    "torch==2.13.0", "numpy", "msgspec", "click", "rich", "psutil", "wandb", "torch-audit==0.3.0", "lightning",
]  # fmt: skip
ARMS = {
    "plain": "the script by itself",
    "stepscope": "stepscope run, nothing added to the script",
    "pulse": "the same, following no ops after the first 40 steps: the pulse by itself",
    "wandb.watch": "wandb offline, watch(model, log='gradients', log_freq=100) and log of the loss",
    "torch-audit": "autopatch(model, optimizer), every 1,000 steps, its default",
    "torch-audit/1": "the same, every step",
    "detect_anomaly": "torch.autograd.detect_anomaly around the loop",
    "lightning": "the same model in Lightning's Trainer",
    "lightning+SimpleProfiler": "and with profiler='simple'",
}
BESIDE = {"lightning+SimpleProfiler": "lightning"}
"""What an arm is compared with, where that is not the plain script."""

Step = Callable[[float], None]


def prepare(arm: str, model: Any, optimizer: Any) -> tuple[Step, Any]:
    """What is called with the loss after each step, and what the loop runs in. The loss is a tensor."""
    if arm == "wandb.watch":
        import wandb

        run = wandb.init(mode="offline", settings=wandb.Settings(silent=True))
        run.watch(model, log="gradients", log_freq=100)
        return lambda loss: run.log({"loss": loss}), contextlib.closing(_Finish(run))
    if arm.startswith("torch-audit"):
        from torch_audit import autopatch

        autopatch(model, optimizer=optimizer, every_n_steps=1 if arm.endswith("/1") else 1000)
    if arm == "detect_anomaly":
        import torch

        return lambda loss: None, torch.autograd.detect_anomaly(check_nan=True)
    return lambda loss: None, contextlib.nullcontext()


class _Finish:
    def __init__(self, run: Any) -> None:
        self._run = run

    def close(self) -> None:
        self._run.finish()
