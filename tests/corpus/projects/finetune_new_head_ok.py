"""Pre-trains on even digits, then replaces the head and fine-tunes on odd ones."""
import torch
from sklearn.datasets import load_digits
from torch import nn


class Classifier(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(64, 80), nn.ReLU(), nn.Linear(80, 40), nn.ReLU())
        self.head = nn.Linear(40, classes)

    def forward(self, x):
        return self.head(self.backbone(x))


def subset(x, y, digits):
    keep = torch.isin(y, torch.tensor(digits))
    relabel = {digit: place for place, digit in enumerate(digits)}
    return x[keep], torch.tensor([relabel[int(v)] for v in y[keep]])


def fit(model, optimizer, x, y, epochs, name):
    criterion = nn.CrossEntropyLoss()
    model.train()
    for epoch in range(epochs):
        total, hits = 0.0, 0
        for rows in torch.randperm(len(x)).split(32):
            logits = model(x[rows])
            loss = criterion(logits, y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(rows)
            hits += (logits.argmax(1) == y[rows]).sum().item()
        print(f"{name} epoch {epoch} loss {total / len(x):.4f} acc {hits / len(x):.4f}")


def load():
    x, y = load_digits(return_X_y=True)
    return torch.tensor(x / 16, dtype=torch.float32), torch.tensor(y)


def main():
    torch.manual_seed(14)
    x, y = load()
    model = Classifier(classes=5)
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    fit(model, optimizer, *subset(x, y, [0, 2, 4, 6, 8]), epochs=4, name="pretrain")

    for p in model.backbone.parameters():
        p.requires_grad = False
    model.head = nn.Linear(40, 5)
    optimizer = torch.optim.Adam(model.head.parameters(), lr=2e-3)
    fit(model, optimizer, *subset(x, y, [1, 3, 5, 7, 9]), epochs=6, name="finetune")


if __name__ == "__main__":
    main()
