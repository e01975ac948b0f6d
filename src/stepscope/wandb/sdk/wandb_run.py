"""`from wandb.sdk.wandb_run import Run`."""

from __future__ import annotations

from stepscope.wandb.handle import Run

__all__ = ["Run"]
