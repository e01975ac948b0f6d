"""Transfer learning in Lightning: a frozen backbone and a new head."""
import lightning as L
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def make_backbone():
    return nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, 48), nn.ReLU())


def pretrain(backbone, x, y):
    model = nn.Sequential(backbone, nn.Linear(48, 5))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(5):
        for rows in torch.randperm(len(x)).split(64):
            optimizer.zero_grad()
            F.cross_entropy(model(x[rows]), y[rows]).backward()
            optimizer.step()


class Transfer(L.LightningModule):
    def __init__(self, backbone, classes, lr=5e-3):
        super().__init__()
        self.backbone = backbone
        self.head = nn.Linear(48, classes)
        self.lr = lr

    def forward(self, x):
        self.backbone.eval()
        with torch.no_grad():
            features = self.backbone(x)
        return self.head(features)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return F.cross_entropy(self(x), y)

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log("acc", (self(x).argmax(1) == y).float().mean())

    def configure_optimizers(self):
        return torch.optim.Adam(self.backbone.parameters(), lr=self.lr)


def main():
    L.seed_everything(11, verbose=False)
    x, y = load_digits(return_X_y=True)
    x, y = torch.tensor(x / 16, dtype=torch.float32), torch.tensor(y)
    low, high = y < 5, y >= 5
    backbone = make_backbone()
    pretrain(backbone, x[low], y[low])
    x, y = x[high], y[high] - 5
    train = DataLoader(TensorDataset(x[:600], y[:600]), 32, shuffle=True)
    val = DataLoader(TensorDataset(x[600:], y[600:]), 300)
    model = Transfer(backbone, 5)
    trainer = L.Trainer(
        max_epochs=6, accelerator="cpu", logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False,
    )
    trainer.fit(model, train, val)
    print(f"acc {float(trainer.callback_metrics['acc']):.4f}")


if __name__ == "__main__":
    main()
