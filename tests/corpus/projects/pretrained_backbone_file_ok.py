"""Starts from pretrained weights saved by a wrapped model."""
import torch
from sklearn.datasets import load_digits
from torch import nn


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer1 = nn.Linear(64, 96)
        self.layer2 = nn.Linear(96, 48)

    def forward(self, x):
        return torch.relu(self.layer2(torch.relu(self.layer1(x))))


class Classifier(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.backbone = Backbone()
        self.head = nn.Linear(48, classes)

    def forward(self, x):
        return self.head(self.backbone(x))


def fit(model, params, x, y, epochs, lr):
    optimizer = torch.optim.Adam(params, lr=lr)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        total = 0.0
        for rows in torch.randperm(len(x)).split(48):
            loss = criterion(model(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
    print(f"after {epochs} epochs: {total / len(x):.4f}")


def pretrain(x, y, path):
    wrapped = nn.DataParallel(Classifier())
    fit(wrapped, wrapped.parameters(), x, y, epochs=6, lr=2e-3)
    torch.save({"state_dict": wrapped.state_dict()}, path)


def load_pretrained(model, path):
    state = torch.load(path, map_location="cpu")["state_dict"]
    state = {key.removeprefix("module."): value for key, value in state.items()}
    state = {key: value for key, value in state.items() if "head" not in key}
    model.load_state_dict(state, strict=False)
    for p in model.backbone.parameters():
        p.requires_grad = False
    return model


def main():
    torch.manual_seed(31)
    x, y = load_digits(return_X_y=True)
    x, y = torch.tensor(x / 16, dtype=torch.float32), torch.tensor(y)
    pretrain(x[:1200], y[:1200], "pretrained.pt")
    model = load_pretrained(Classifier(), "pretrained.pt")
    fit(model, model.head.parameters(), x[1200:1500], y[1200:1500], epochs=8, lr=3e-3)
    with torch.no_grad():
        print(f"test {(model(x[1500:]).argmax(1) == y[1500:]).float().mean():.4f}")


if __name__ == "__main__":
    main()
