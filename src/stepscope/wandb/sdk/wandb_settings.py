"""`from wandb.sdk.wandb_settings import Settings`."""

from __future__ import annotations

from stepscope.wandb.settings import Settings

__all__ = ["Settings"]
