"""Pretrain on ten digits, then fine-tune for odd versus even."""
import torch
from sklearn.datasets import load_digits
from torch import nn


class Network(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 32), nn.ReLU())
        self.head = nn.Linear(32, classes)

    def forward(self, x):
        return self.head(self.body(x))


def fit(model, x, y, epochs, lr):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    criterion = nn.CrossEntropyLoss()
    model.train()
    for _ in range(epochs):
        for rows in torch.randperm(len(x)).split(64):
            optimizer.zero_grad()
            loss = criterion(model(x[rows]), y[rows])
            loss.backward()
            optimizer.step()
    return loss.item()


def transfer(source, classes):
    target = Network(classes)
    body = {key.removeprefix("body."): value for key, value in source.items() if key.startswith("body.")}
    target.body.load_state_dict(body)
    return target


def main():
    torch.manual_seed(35)
    x, y = load_digits(return_X_y=True)
    x, y = torch.tensor(x, dtype=torch.float32) / 16, torch.tensor(y)
    base = Network(10)
    print("pretraining loss", fit(base, x[:1000], y[:1000], epochs=5, lr=3e-3))
    tuned = transfer(base.state_dict(), 2)
    print("fine-tuning loss", fit(tuned, x[1000:1400], y[1000:1400] % 2, epochs=5, lr=1e-3))
    tuned.eval()
    with torch.no_grad():
        accuracy = (tuned(x[1400:]).argmax(1) == y[1400:] % 2).float().mean().item()
    print("accuracy", accuracy)


if __name__ == "__main__":
    main()
