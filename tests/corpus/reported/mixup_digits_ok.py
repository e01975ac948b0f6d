import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset


def mixup(x, y, alpha, rng):
    lam = float(rng.beta(alpha, alpha))
    index = torch.randperm(len(x))
    mixed = lam * x + (1 - lam) * x[index]
    return mixed, y, y[index], lam


def mixup_loss(logits, y_a, y_b, lam):
    return lam * F.cross_entropy(logits, y_a) + (1 - lam) * F.cross_entropy(logits, y_b)


class SmallConv(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 16, 3, padding=1)
        self.fc1 = nn.Linear(16 * 16, 48)
        self.fc2 = nn.Linear(48, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv(x)), 2)
        return self.fc2(F.relu(self.fc1(x.flatten(1))))


def main():
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    digits = load_digits()
    x = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    y = torch.tensor(digits.target)
    order = torch.randperm(len(x))
    x, y = x[order], y[order]
    loader = DataLoader(TensorDataset(x[:1200], y[:1200]), batch_size=60, shuffle=True)
    model = SmallConv()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(8):
        model.train()
        total = 0.0
        for xb, yb in loader:
            mixed, y_a, y_b, lam = mixup(xb, yb, 1.0, rng)
            loss = mixup_loss(model(mixed), y_a, y_b, lam)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        model.eval()
        with torch.no_grad():
            logits = model(x[1200:])
            nll = F.cross_entropy(logits, y[1200:]).item()
            acc = (logits.argmax(1) == y[1200:]).float().mean().item()
        print(f"epoch {epoch}: loss {total / len(loader):.3f} test nll {nll:.3f} acc {acc:.3f}")


if __name__ == "__main__":
    main()
