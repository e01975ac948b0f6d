"""Two-stage fine-tuning: head first, then everything, resuming from the stage-1 checkpoint."""
import os
import tempfile

import torch
from sklearn.datasets import load_digits
from torch import nn


class PollenNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 32), nn.ReLU())
        self.head = nn.Linear(32, 10)

    def forward(self, x):
        return self.head(self.backbone(x))


class Stage:
    def __init__(self, model, params, lr):
        self.model = model
        self.opt = torch.optim.Adam(params, lr=lr)

    def run(self, x, y, epochs):
        for _ in range(epochs):
            for idx in torch.randperm(len(x)).split(128):
                loss = nn.functional.cross_entropy(self.model(x[idx]), y[idx])
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
        return loss.item()

    def save(self, path):
        torch.save({"model": self.model.state_dict(), "opt": self.opt.state_dict()}, path)

    def load(self, path, with_optimizer=True):
        ckpt = torch.load(path)
        self.model.load_state_dict(ckpt["model"])
        if with_optimizer:
            self.opt.load_state_dict(ckpt["opt"])


def main():
    torch.manual_seed(6)
    digits = load_digits()
    x = torch.tensor(digits.data / 16.0, dtype=torch.float32)
    y = torch.tensor(digits.target)
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "stage1.pt")
        model = PollenNet()
        first = Stage(model, model.head.parameters(), lr=1e-2)
        print("stage 1 loss", first.run(x[:1400], y[:1400], 4))
        first.save(path)
        model = PollenNet()
        second = Stage(model, model.parameters(), lr=2e-3)
        second.load(path)
    print("stage 2 loss", second.run(x[:1400], y[:1400], 8))
    with torch.no_grad():
        print("acc", (model(x[1400:]).argmax(1) == y[1400:]).float().mean().item())


if __name__ == "__main__":
    main()
