"""A CNN in Lightning with a one-cycle schedule."""
import lightning as L
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class ConvModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.Flatten(), nn.Linear(256, 10),
        )

    def forward(self, x):
        return self.layers(x)


class LitConv(L.LightningModule):
    def __init__(self, max_lr=0.02):
        super().__init__()
        self.model, self.max_lr = ConvModel(), max_lr
        self.rates = []

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(self.model(x), y)
        self.rates.append(self.trainer.optimizers[0].param_groups[0]["lr"])
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log("val_acc", (self.model(x).argmax(1) == y).float().mean(), prog_bar=True)

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=1e-3)
        scheduler = torch.optim.lr_scheduler.OneCycleLR(
            optimizer, max_lr=self.max_lr, total_steps=self.trainer.estimated_stepping_batches
        )
        return [optimizer], [scheduler]


def make_loaders():
    data = load_digits()
    x = torch.tensor(data.images, dtype=torch.float32).unsqueeze(1) / 16
    y = torch.tensor(data.target)
    train = DataLoader(TensorDataset(x[:1400], y[:1400]), batch_size=50, shuffle=True)
    return train, DataLoader(TensorDataset(x[1400:], y[1400:]), batch_size=200)


def main():
    L.seed_everything(1, verbose=False)
    train, val = make_loaders()
    model = LitConv()
    trainer = L.Trainer(
        max_epochs=5, accelerator="cpu", logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False,
    )
    trainer.fit(model, train, val)
    print(f"val {float(trainer.callback_metrics['val_acc']):.4f} rates {min(model.rates):.2e} {max(model.rates):.2e}")


if __name__ == "__main__":
    main()
