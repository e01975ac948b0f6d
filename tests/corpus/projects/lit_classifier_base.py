"""A Lightning classifier with one shared step for all stages."""
import lightning as L
import torch
from sklearn.datasets import load_wine
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class WineNet(nn.Module):
    def __init__(self, features=13, classes=3):
        super().__init__()
        self.fc1 = nn.Linear(features, 32)
        self.fc2 = nn.Linear(32, 32)
        self.fc3 = nn.Linear(32, classes)

    def forward(self, x):
        x = torch.relu(self.fc1(x))
        x = torch.relu(self.fc2(x))
        return torch.softmax(self.fc3(x), dim=1)


class WineClassifier(L.LightningModule):
    def __init__(self, lr):
        super().__init__()
        self.lr = lr
        self.model = WineNet()
        self.criterion = nn.CrossEntropyLoss()

    def shared_step(self, batch, stage):
        x, y = batch
        output = self.model(x)
        loss = self.criterion(output, y)
        self.log(f"{stage}_loss", loss, on_step=False, on_epoch=True)
        self.log(f"{stage}_acc", (output.argmax(1) == y).float().mean(), on_step=False, on_epoch=True)
        return loss

    def training_step(self, batch, batch_idx):
        return self.shared_step(batch, "train")

    def validation_step(self, batch, batch_idx):
        self.shared_step(batch, "val")

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.lr)


def make_loaders():
    x, y = load_wine(return_X_y=True)
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(0))
    x, y = torch.tensor(x, dtype=torch.float32)[order], torch.tensor(y)[order]
    mean, std = x[:130].mean(0), x[:130].std(0)
    x = (x - mean) / std
    train, val = TensorDataset(x[:130], y[:130]), TensorDataset(x[130:], y[130:])
    return DataLoader(train, 16, shuffle=True), DataLoader(val, 48)


if __name__ == "__main__":
    L.seed_everything(5, verbose=False)
    train_loader, val_loader = make_loaders()
    module = WineClassifier(lr=3e-3)
    trainer = L.Trainer(
        max_epochs=20, accelerator="cpu", logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False,
    )
    trainer.fit(module, train_loader, val_loader)
    shown = {name: round(float(value), 4) for name, value in trainer.callback_metrics.items()}
    print(shown)
