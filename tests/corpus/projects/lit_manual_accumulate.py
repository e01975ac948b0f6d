"""Manual optimization in Lightning with accumulated gradients and its own clipping."""
import lightning as L
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Accumulating(L.LightningModule):
    def __init__(self, every=4, lr=4e-3):
        super().__init__()
        self.automatic_optimization = False
        self.every, self.lr = every, lr
        self.net = nn.Sequential(nn.Linear(64, 96), nn.LayerNorm(96), nn.GELU(), nn.Linear(96, 10))
        self.losses = []

    def training_step(self, batch, batch_idx):
        x, y = batch
        optimizer = self.optimizers()
        loss = F.cross_entropy(self.net(x), y)
        self.manual_backward(loss / self.every)
        if (batch_idx + 1) % self.every == 0:
            self.clip_gradients(optimizer, gradient_clip_val=1.0, gradient_clip_algorithm="norm")
            optimizer.step()
            optimizer.zero_grad()
        self.losses.append(loss.item())

    def on_train_epoch_end(self):
        scheduler = self.lr_schedulers()
        scheduler.step()

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log("acc", (self.net(x).argmax(1) == y).float().mean())

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=self.lr)
        return [optimizer], [torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.8)]


def make_loaders():
    x, y = load_digits(return_X_y=True)
    x, y = torch.tensor(x / 16, dtype=torch.float32), torch.tensor(y)
    train = DataLoader(TensorDataset(x[:1408], y[:1408]), batch_size=16, shuffle=True)
    return train, DataLoader(TensorDataset(x[1408:], y[1408:]), batch_size=400)


if __name__ == "__main__":
    L.seed_everything(2, verbose=False)
    model = Accumulating()
    trainer = L.Trainer(
        max_epochs=6, accelerator="cpu", logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False,
    )
    trainer.fit(model, *make_loaders())
    print(f"loss {sum(model.losses[-20:]) / 20:.4f} acc {float(trainer.callback_metrics['acc']):.4f}")
