import os
import tempfile

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(0)
workdir = tempfile.mkdtemp()
digits = load_digits()
X = torch.tensor(digits.data / 16, dtype=torch.float32)
y = torch.tensor(digits.target)


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(64, 48)
        self.fc2 = nn.Linear(48, 10)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))


def train(epochs):
    model = nn.DataParallel(MLP())
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    best = 0.0
    path = os.path.join(workdir, "model_best.pth.tar")
    for epoch in range(epochs):
        model.train()
        for idx in torch.randperm(1400).split(70):
            opt.zero_grad()
            loss = F.cross_entropy(model(X[idx]), y[idx])
            loss.backward()
            opt.step()
        acc = evaluate(model)
        print(f"epoch {epoch} loss {loss.item():.4f} acc {acc:.4f}")
        if acc > best:
            best = acc
            torch.save({"epoch": epoch, "state_dict": model.state_dict(), "best": best}, path)
    return path


@torch.no_grad()
def evaluate(model):
    model.eval()
    return (model(X[1400:]).argmax(1) == y[1400:]).float().mean().item()


def deploy(path):
    model = MLP()
    ckpt = torch.load(path)
    model.load_state_dict(ckpt["state_dict"])
    print(f"loaded epoch {ckpt['epoch']}, accuracy {evaluate(model):.4f}")


deploy(train(5))
