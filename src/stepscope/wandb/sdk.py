"""`wandb.sdk`: the internal names that public code uses in annotations, above all `wandb.sdk.wandb_run.Run`."""

from __future__ import annotations

from types import SimpleNamespace

from stepscope.wandb.handle import Run
from stepscope.wandb.run_config import Config
from stepscope.wandb.settings import Settings

wandb_run = SimpleNamespace(Run=Run)
wandb_config = SimpleNamespace(Config=Config)
wandb_settings = SimpleNamespace(Settings=Settings)
