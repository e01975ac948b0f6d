"""Classify the direction of a moving spot from the difference of two frames."""
import numpy as np
import torch
from torch import nn

SIZE = 10
MOVES = np.array([(-1, 0), (1, 0), (0, -1), (0, 1)])


def render(cy, cx, rng):
    yy, xx = np.mgrid[0:SIZE, 0:SIZE]
    spot = 120 * np.exp(-((yy - cy) ** 2 + (xx - cx) ** 2) / 3.0)
    noise = rng.integers(60, 110, size=(SIZE, SIZE))
    return np.clip(spot + noise, 0, 255).astype(np.uint8)


def make_clips(n, seed):
    rng = np.random.default_rng(seed)
    first = np.empty((n, SIZE, SIZE), dtype=np.uint8)
    second = np.empty_like(first)
    label = rng.integers(0, 4, size=n)
    for i in range(n):
        cy, cx = rng.uniform(3, 6, size=2)
        first[i] = render(cy, cx, rng)
        second[i] = render(cy + MOVES[label[i], 0], cx + MOVES[label[i], 1], rng)
    return first, second, label


def to_input(first, second):
    change = second.astype(np.int16) - first
    return torch.from_numpy(change.astype(np.float32) / 255).unsqueeze(1)


def build():
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8 * 25, 4)
    )


def main():
    torch.manual_seed(0)
    first, second, label = make_clips(900, 0)
    x, y = to_input(first, second), torch.from_numpy(label)
    first, second, label = make_clips(300, 1)
    x_test, y_test = to_input(first, second), torch.from_numpy(label)
    model = build()
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    for epoch in range(10):
        model.train()
        for idx in torch.randperm(len(x)).split(60):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x[idx]), y[idx])
            loss.backward()
            optimizer.step()
        if epoch % 3 == 0:
            model.eval()
            with torch.no_grad():
                acc = (model(x_test).argmax(1) == y_test).float().mean().item()
            print(f"epoch {epoch}: loss {loss.item():.3f} test accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
