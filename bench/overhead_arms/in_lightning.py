"""The same training in Lightning's Trainer, with and without its SimpleProfiler."""

from __future__ import annotations

import logging
import warnings
from typing import Any

import torch
from torch.nn import functional as F
from torch.utils.data import DataLoader

from overhead_arms.gpt import GPT, Size
from overhead_arms.turns import Turns


def train_in_lightning(arm: str, size: Size, dataset: Any) -> None:
    import lightning

    warnings.simplefilter("ignore")
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    torch.manual_seed(0)
    turns = Turns()

    class Module(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.net = GPT(size)

        def training_step(self, batch: Any, index: int) -> Any:
            return F.cross_entropy(self.net(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())

        def on_train_start(self) -> None:
            turns.tell(ready=True)

        def on_train_batch_start(self, batch: Any, index: int) -> int | None:
            return None if turns.may_step() else -1  # ends the epoch; only the module's own answer is heard

        def configure_optimizers(self) -> Any:
            return torch.optim.AdamW(self.parameters(), lr=3e-4)

    trainer = lightning.Trainer(
        accelerator="cpu",
        max_epochs=1,
        profiler="simple" if arm.endswith("SimpleProfiler") else None,
        enable_progress_bar=False,
        enable_checkpointing=False,
        enable_model_summary=False,
        logger=False,
    )
    module = Module()
    trainer.fit(module, DataLoader(dataset(size), batch_size=size.batch))
    digest = sum(p.detach().double().abs().sum() for p in module.parameters())
    turns.tell(loss=0.0, weights=digest.item(), peak_bytes=0)
