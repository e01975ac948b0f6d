"""Pretrain on coarse classes, then adapt to new ones."""
import torch
from sklearn.datasets import load_digits
from torch import nn


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 32), nn.ReLU())
        self.head = nn.Linear(32, classes)

    def forward(self, x):
        return self.head(self.body(x))


def run(model, optimizer, x, y, epochs):
    criterion = nn.CrossEntropyLoss()
    model.train()
    for epoch in range(epochs):
        for rows in torch.randperm(len(x)).split(48):
            optimizer.zero_grad()
            loss = criterion(model(x[rows]), y[rows])
            loss.backward()
            optimizer.step()
    return loss.item()


def pretrain(x, y):
    model = Net(7)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    print(f"pretraining loss {run(model, optimizer, x, y, 6):.4f}")
    return model


def finetune(model, x, y):
    model.head = nn.Linear(32, 3)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    print(f"fine-tuning loss {run(model, optimizer, x, y, 6):.4f}")


def main():
    torch.manual_seed(79)
    x, y = load_digits(return_X_y=True)
    x, y = torch.tensor(x, dtype=torch.float32) / 16, torch.tensor(y)
    old, new = y < 7, y >= 7
    model = pretrain(x[old], y[old])
    new_x, new_y = x[new], y[new] - 7
    finetune(model, new_x[:360], new_y[:360])
    model.eval()
    with torch.no_grad():
        accuracy = (model(new_x[360:]).argmax(1) == new_y[360:]).float().mean().item()
    print(f"accuracy on the new classes {accuracy:.3f}")


if __name__ == "__main__":
    main()
