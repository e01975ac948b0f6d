"""One trunk, three heads: digit, parity and amount of ink."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset


class MultiDigits(Dataset):
    def __init__(self, start, stop):
        x, y = load_digits(return_X_y=True)
        self.x = torch.tensor(x[start:stop] / 16, dtype=torch.float32)
        self.y = torch.tensor(y[start:stop])

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        x, y = self.x[index], self.y[index]
        return {"image": x, "digit": y, "parity": (y % 2).float(), "ink": x.mean()}


class MultiHead(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.digit = nn.Linear(width, 10)
        self.parity = nn.Linear(width, 1)
        self.ink = nn.Linear(width, 1)

    def forward(self, x):
        h = self.trunk(x)
        return {"digit": self.digit(h), "parity": self.parity(h).squeeze(1), "ink": self.ink(h).squeeze(1)}


WEIGHTS = {"digit": 1.0, "parity": 0.5, "ink": 5.0}


def compute_loss(outputs, batch):
    losses = {
        "digit": F.cross_entropy(outputs["digit"], batch["digit"]),
        "parity": F.binary_cross_entropy_with_logits(outputs["parity"], batch["parity"]),
        "ink": F.mse_loss(outputs["ink"], batch["ink"]),
    }
    loss = torch.zeros(())
    for name, value in losses.items():
        loss = WEIGHTS[name] * value
    return loss, losses


def evaluate(model, loader):
    digit = parity = 0
    with torch.no_grad():
        for batch in loader:
            out = model(batch["image"])
            digit += (out["digit"].argmax(1) == batch["digit"]).sum().item()
            parity += ((out["parity"] > 0) == (batch["parity"] > 0.5)).sum().item()
    return digit / len(loader.dataset), parity / len(loader.dataset)


def main():
    torch.manual_seed(0)
    train, test = DataLoader(MultiDigits(0, 1400), 64, shuffle=True), DataLoader(MultiDigits(1400, None), 256)
    model = MultiHead()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(5):
        for batch in train:
            loss, _ = compute_loss(model(batch["image"]), batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        digit, parity = evaluate(model, test)
        print(f"epoch {epoch} loss {loss.item():.4f} digit {digit:.4f} parity {parity:.4f}")


if __name__ == "__main__":
    main()
