"""`from wandb.sdk.wandb_config import Config`."""

from __future__ import annotations

from stepscope.wandb.run_config import Config

__all__ = ["Config"]
