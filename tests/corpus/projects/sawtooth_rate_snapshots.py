"""Snapshots of a cyclic learning rate are averaged at test time."""
import copy
import math

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn

CYCLES, STEPS_PER_CYCLE, TOP = 4, 80, 0.2


def rate(step):
    place = (step % STEPS_PER_CYCLE) / STEPS_PER_CYCLE
    return TOP * 0.5 * (1 + math.cos(math.pi * place))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 10))

    def forward(self, x):
        return self.layers(x)


def train_snapshots(model, x, y):
    optimizer = torch.optim.SGD(model.parameters(), lr=TOP)
    snapshots = []
    for step in range(CYCLES * STEPS_PER_CYCLE):
        for group in optimizer.param_groups:
            group["lr"] = rate(step)
        rows = torch.randint(0, len(x), (64,))
        loss = F.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if (step + 1) % STEPS_PER_CYCLE == 0:
            snapshots.append(copy.deepcopy(model).eval().requires_grad_(False))
            print(f"snapshot {len(snapshots)} loss {loss.item():.4f}")
    return snapshots


@torch.no_grad()
def ensemble(models, x):
    return torch.stack([m(x).softmax(1) for m in models]).mean(0)


def main():
    torch.manual_seed(9)
    x, y = load_digits(return_X_y=True)
    x, y = torch.tensor(x / 16, dtype=torch.float32), torch.tensor(y)
    snapshots = train_snapshots(Net(), x[:1400], y[:1400])
    single = ensemble(snapshots[-1:], x[1400:]).argmax(1)
    many = ensemble(snapshots, x[1400:]).argmax(1)
    print(f"last {(single == y[1400:]).float().mean():.4f} all {(many == y[1400:]).float().mean():.4f}")


if __name__ == "__main__":
    main()
