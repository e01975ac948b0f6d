"""What a script sends to other trackers is kept with its run too, and still sent: TensorBoard, W&B, MLflow."""

from __future__ import annotations

from stepscope.events import Installed
from stepscope.events.imports import Imports
from stepscope.launch.trackers.mlflow import watch_mlflow
from stepscope.launch.trackers.name_registry import Hub
from stepscope.launch.trackers.summary import watch_tf_summary
from stepscope.launch.trackers.tensorboard import watch_tensorboard
from stepscope.launch.trackers.wandb import watch_wandb

__all__ = ["Hub", "watch_trackers"]


def watch_trackers(imports: Imports, installed: Installed, hub: Hub) -> None:
    """Listen to each tracker from the moment the script imports it."""
    watch_tensorboard(imports, installed, hub)
    watch_tf_summary(imports, installed, hub)
    watch_wandb(imports, installed, hub)
    watch_mlflow(imports, installed, hub)
