"""A frozen, pretrained backbone stays in eval mode while a new head trains."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(64, 96), nn.BatchNorm1d(96), nn.ReLU(), nn.Dropout(0.2), nn.Linear(96, 48), nn.BatchNorm1d(48), nn.ReLU()
        )

    def forward(self, x):
        return self.layers(x)


class Probe(nn.Module):
    def __init__(self, backbone, classes):
        super().__init__()
        self.backbone = backbone.requires_grad_(False)
        self.head = nn.Linear(48, classes)

    def train(self, mode=True):
        super().train(mode)
        self.backbone.eval()
        return self

    def forward(self, x):
        return self.head(self.backbone(x))


def fit(model, x, y, epochs, lr):
    params = [p for p in model.parameters() if p.requires_grad]
    optimizer = torch.optim.Adam(params, lr=lr)
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for rows in torch.randperm(len(x)).split(50):
            loss = F.cross_entropy(model(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
        print(f"epoch {epoch} loss {total / len(x):.4f}")


def main():
    torch.manual_seed(0)
    x, y = load_digits(return_X_y=True)
    x, y = torch.tensor(x / 16, dtype=torch.float32), torch.tensor(y)
    backbone = Backbone()
    fit(nn.Sequential(backbone, nn.Linear(48, 2)), x[:1000], y[:1000] % 2, epochs=5, lr=3e-3)
    probe = Probe(backbone, 10)
    fit(probe, x[1000:1500], y[1000:1500], epochs=8, lr=1e-2)
    probe.eval()
    with torch.no_grad():
        print(f"test {(probe(x[1500:]).argmax(1) == y[1500:]).float().mean():.4f}")


if __name__ == "__main__":
    main()
