"""The same as `wandb.keras`."""

from stepscope.wandb.keras import WandbMetricsLogger

__all__ = ["WandbMetricsLogger"]
