"""Digits in bfloat16 on the CPU."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

CONFIG = {"lr": 5e-4, "momentum": 0.9, "epochs": 6, "batch_size": 32, "dtype": torch.bfloat16}


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


class Model(nn.Module):
    def __init__(self, width=64, depth=2):
        super().__init__()
        self.blocks = nn.Sequential(*[Residual(width) for _ in range(depth)])
        self.head = nn.Linear(width, 10)

    def forward(self, x):
        return self.head(self.blocks(x))


def load():
    x, y = load_digits(return_X_y=True)
    x = torch.tensor((x - 8) / 8, dtype=torch.float32)
    return TensorDataset(x[:1400], torch.tensor(y[:1400])), TensorDataset(x[1400:], torch.tensor(y[1400:]))


def forward_loss(model, x, y):
    with torch.autocast("cpu", dtype=CONFIG["dtype"]):
        logits = model(x)
    return F.cross_entropy(logits.float(), y)


def main():
    torch.manual_seed(0)
    train_set, test_set = load()
    loader = DataLoader(train_set, CONFIG["batch_size"], shuffle=True)
    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=CONFIG["lr"], momentum=CONFIG["momentum"])
    for epoch in range(CONFIG["epochs"]):
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad(set_to_none=True)
            loss = forward_loss(model, x, y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}: {total / len(loader):.4f}")
    with torch.no_grad():
        print(f"test loss {forward_loss(model, *test_set.tensors).item():.4f}")


if __name__ == "__main__":
    main()
