"""The same training in Lightning's Trainer, with and without its SimpleProfiler."""

from __future__ import annotations

import logging
import warnings
from typing import Any

from torch.utils.data import DataLoader

from overhead_arms.clock import Clock
from overhead_arms.works import Work


def train_in_lightning(arm: str, work: Work, clock: Clock) -> None:
    import lightning

    warnings.simplefilter("ignore")
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)

    class Module(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.net = work.model

        def training_step(self, batch: Any, index: int) -> Any:
            return work.loss_of(self.net, batch)

        def on_train_batch_start(self, batch: Any, index: int) -> int | None:
            if clock.tick():
                return None
            self.trainer.should_stop = True
            return -1  # ends the epoch

        def configure_optimizers(self) -> Any:
            return work.optimizer

    trainer = lightning.Trainer(
        accelerator="cpu",
        max_epochs=-1,
        profiler="simple" if arm.endswith("SimpleProfiler") else None,
        enable_progress_bar=False,
        enable_checkpointing=False,
        enable_model_summary=False,
        logger=False,
    )
    # Lightning takes a list for several loaders
    loader = work.batches if isinstance(work.batches, DataLoader) else DataLoader(work.batches, batch_size=None)
    trainer.fit(Module(), loader)
