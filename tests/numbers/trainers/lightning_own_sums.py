"""Lightning without self.log: the module adds up its validation itself, with a sum-reduced loss."""

import pytorch_lightning as pl
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(330, 12)
y = (x[:, :4].sum(1) > 0).long() + (x[:, 4] > 0).long()
train_set, test_set = TensorDataset(x[:250], y[:250]), TensorDataset(x[250:], y[250:])


class Classifier(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(12, 3)
        self.total = self.right = 0.0

    def training_step(self, batch, batch_idx):
        return F.cross_entropy(self.net(batch[0]), batch[1])

    def on_validation_epoch_start(self):
        self.total = self.right = 0.0

    def validation_step(self, batch, batch_idx):
        out = self.net(batch[0])
        self.total += F.cross_entropy(out, batch[1], reduction="sum").item()
        self.right += (out.argmax(1) == batch[1]).sum().item()

    def on_validation_epoch_end(self):
        print(f"validation loss {self.total / 80:.4f}, accuracy {self.right / 80:.4f}")

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


if __name__ == "__main__":
    flags = {"logger": False, "enable_progress_bar": False, "enable_model_summary": False, "accelerator": "cpu"}
    trainer = pl.Trainer(max_epochs=3, enable_checkpointing=False, num_sanity_val_steps=0, **flags)
    trainer.fit(Classifier(), DataLoader(train_set, 32, shuffle=True), DataLoader(test_set, 32))
