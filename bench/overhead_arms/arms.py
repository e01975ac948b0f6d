"""What each tool's own documentation says to add to a training script."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

REQUIREMENTS = ["torch==2.13.0", "numpy", "msgspec", "click", "rich", "psutil", "pyyaml", "wandb", "lightning"]
ARMS = {
    "plain": "the script by itself",
    "again": "the same, a second time: what the bench cannot tell apart",
    "stepscope": "stepscope run, nothing added to the script; 'stepscope --no-diagnose' adds an option",
    "wandb.watch": "wandb offline, watch(model, log='gradients', log_freq=100) and log of the loss",
    "torch.profiler": "profile(activities=[CPU]) around the loop and step() in it: every step, in cycles of 50",
    "detect_anomaly": "torch.autograd.detect_anomaly around the loop",
    "lightning": "the same model in Lightning's Trainer",
    "lightning+SimpleProfiler": "and with profiler='simple'",
}
BESIDE = {"lightning+SimpleProfiler": "lightning"}
"""What an arm is compared with, where that is not the plain script."""
ALONE = ("plain", "stepscope")
"""Arms that need only torch and Stepscope's own requirements."""

DEFAULT = tuple(arm for arm in ARMS if arm != "again")

AfterStep = Callable[[Any], None]
"""Called with the loss, a tensor, after each step."""


def prepare(arm: str, model: Any) -> tuple[AfterStep, contextlib.AbstractContextManager[Any]]:
    """What the loop calls after each step, and what it runs in."""
    if arm == "wandb.watch":
        import wandb

        run = wandb.init(mode="offline", settings=wandb.Settings(silent=True))
        run.watch(model, log="gradients", log_freq=100)
        stack = contextlib.ExitStack()
        stack.callback(run.finish)
        return lambda loss: run.log({"loss": loss}), stack
    if arm == "torch.profiler":
        from torch.profiler import ProfilerActivity, profile, schedule

        cycle = schedule(wait=0, warmup=1, active=49)
        profiler = profile(activities=[ProfilerActivity.CPU], schedule=cycle)
        return lambda loss: profiler.step(), profiler
    if arm == "detect_anomaly":
        import torch

        return lambda loss: None, torch.autograd.detect_anomaly(check_nan=True)
    return lambda loss: None, contextlib.nullcontext()
