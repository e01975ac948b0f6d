"""As step2.py, and right answers are counted with one call: perf.tensor-loop.

stepscope profile examples/slow_training/step3.py
"""

import sys
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, Dataset

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 400


class Blobs(Dataset):
    """Pictures of 28 x 28 pixels, as lists of numbers: a bright spot, and its quarter as the label."""

    def __init__(self, count=4096):
        draw = np.random.default_rng(0)
        self.labels = draw.integers(0, 4, count)
        pictures = torch.tensor([self.picture(draw, label) for label in self.labels], dtype=torch.float32)
        self.pictures = (pictures / 255 - 0.12) / 0.1

    def picture(self, draw, label):
        noise = draw.integers(0, 60, (28, 28))
        row, column = 5 + 14 * (label // 2), 5 + 14 * (label % 2)
        noise[row : row + 4, column : column + 4] += 120
        return noise.tolist()

    def __len__(self):
        return len(self.pictures)

    def __getitem__(self, i):
        return self.pictures[i], int(self.labels[i])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(784, 128)
        self.layers = nn.ModuleList(nn.Linear(128, 128) for _ in range(6))
        self.last = nn.Linear(128, 4)

    def forward(self, x):
        x = F.relu(self.first(x.flatten(1)))
        for layer in self.layers:
            x = F.relu(layer(x))
        return self.last(x)


def main():
    torch.manual_seed(0)
    loader = DataLoader(Blobs(), batch_size=128, shuffle=True)
    model = Net()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    steps, right, seen, began = 0, 0, 0, time.perf_counter()
    while steps < STEPS:
        for x, y in loader:
            optimizer.zero_grad(set_to_none=False)
            scores = model(x)
            loss = F.cross_entropy(scores, y)
            loss.backward()
            optimizer.step()
            right += (scores.argmax(dim=1) == y).sum()
            seen += len(y)
            steps += 1
            if steps == STEPS:
                break
    took = time.perf_counter() - began
    print(f"accuracy {right / seen:.1%}, step time {took / steps * 1e3:.2f} ms, {steps / took:.0f} steps per second")


if __name__ == "__main__":
    main()
