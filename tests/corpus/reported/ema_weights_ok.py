import copy

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class EMA:
    def __init__(self, model, decay):
        self.decay = decay
        self.shadow = copy.deepcopy(model).eval()

    @torch.no_grad()
    def update(self, model):
        for slow, fast in zip(self.shadow.parameters(), model.parameters()):
            slow.mul_(self.decay).add_(fast, alpha=1 - self.decay)
        for slow, fast in zip(self.shadow.buffers(), model.buffers()):
            slow.copy_(fast)


def build():
    return nn.Sequential(
        nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU(),
        nn.Linear(64, 32), nn.BatchNorm1d(32), nn.ReLU(),
        nn.Linear(32, 10),
    )


@torch.no_grad()
def accuracy(model, x, y):
    model.eval()
    return (model(x).argmax(1) == y).float().mean().item()


def main():
    torch.manual_seed(77)
    x, y = load_digits(return_X_y=True)
    x, y = torch.tensor(x, dtype=torch.float32), torch.tensor(y)
    test_x, test_y = x[1400:], y[1400:]
    loader = DataLoader(TensorDataset(x[:1400], y[:1400]), batch_size=70, shuffle=True)
    model = build()
    ema = EMA(model, decay=0.95)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(6):
        model.train()
        for xb, yb in loader:
            loss = F.cross_entropy(model(xb), yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            ema.update(model)
        plain, averaged = accuracy(model, test_x, test_y), accuracy(ema.shadow, test_x, test_y)
        print(f"epoch {epoch} model {plain:.3f} averaged {averaged:.3f}")


if __name__ == "__main__":
    main()
