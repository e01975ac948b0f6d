import os
import tempfile

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR

EPOCHS = 10


def load_data():
    x, y = load_digits(return_X_y=True)
    g = torch.Generator().manual_seed(0)
    order = torch.randperm(len(x), generator=g)
    x, y = (torch.tensor(x, dtype=torch.float32) / 16)[order], torch.tensor(y)[order]
    return x[:1400], y[:1400], x[1400:], y[1400:]


class Session:
    def __init__(self, path):
        self.path = path
        self.model = nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 10))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.2, momentum=0.9)
        self.scheduler = CosineAnnealingLR(self.optimizer, T_max=EPOCHS)
        self.epoch = 0

    def save(self):
        state = {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "scheduler": self.scheduler.state_dict(),
            "epoch": self.epoch,
        }
        torch.save(state, self.path)

    def resume(self):
        state = torch.load(self.path, weights_only=True)
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.scheduler.load_state_dict(state["scheduler"])
        self.epoch = state["epoch"]

    def train(self, x, y, until):
        while self.epoch < until:
            self.model.train()
            for idx in torch.randperm(len(x)).split(64):
                self.optimizer.zero_grad()
                loss = F.cross_entropy(self.model(x[idx]), y[idx])
                loss.backward()
                self.optimizer.step()
            self.scheduler.step()
            self.epoch += 1
            print(f"epoch {self.epoch} loss {loss.item():.3f} next lr {self.optimizer.param_groups[0]['lr']:.4f}")


def main():
    torch.manual_seed(0)
    x, y, x_test, y_test = load_data()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "session.pt")
        first = Session(path)
        first.train(x, y, EPOCHS // 2)
        first.save()
        second = Session(path)
        second.resume()
    second.train(x, y, EPOCHS)
    second.model.eval()
    with torch.no_grad():
        print("test accuracy", (second.model(x_test).argmax(1) == y_test).float().mean().item())


if __name__ == "__main__":
    main()
