"""`wandb.sdk`: the internal names that public code uses in annotations, above all `wandb.sdk.wandb_run.Run`."""

from __future__ import annotations

from stepscope.wandb.sdk import wandb_config, wandb_run, wandb_settings

__all__ = ["wandb_config", "wandb_run", "wandb_settings"]
