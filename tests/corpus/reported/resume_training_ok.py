import tempfile
from pathlib import Path

import torch
from torch import nn


class Regression:
    def __init__(self, folder):
        self.path = Path(folder) / "last.pt"
        self.generator = torch.Generator().manual_seed(36)

    def build(self):
        model = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))
        optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
        return model, optimizer

    def batch(self):
        x = torch.randn(64, 5, generator=self.generator)
        return x, (x[:, :1] * x[:, 1:2] + x[:, 2:3]).tanh()

    def save(self, model, optimizer, epoch):
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, self.path)

    def resume(self, model, optimizer):
        checkpoint = torch.load(self.path)
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        return checkpoint["epoch"] + 1

    def run(self, epochs):
        model, optimizer = self.build()
        first = self.resume(model, optimizer) if self.path.exists() else 0
        for epoch in range(first, epochs):
            for _ in range(20):
                x, y = self.batch()
                optimizer.zero_grad()
                loss = nn.functional.mse_loss(model(x), y)
                loss.backward()
                optimizer.step()
            self.save(model, optimizer, epoch)
            print(f"epoch {epoch} loss {loss.item():.4f}")


if __name__ == "__main__":
    torch.manual_seed(36)
    with tempfile.TemporaryDirectory() as folder:
        experiment = Regression(folder)
        experiment.run(epochs=3)
        experiment.run(epochs=6)
