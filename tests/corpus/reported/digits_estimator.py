import torch
import torch.nn as nn
from sklearn.datasets import load_digits


class DigitClassifier:
    """scikit-learn like wrapper."""

    def __init__(self, hidden=64, epochs=8, lr=3e-3, seed=0):
        torch.manual_seed(seed)
        self.epochs = epochs
        self.net = nn.Sequential(
            nn.Linear(64, hidden), nn.BatchNorm1d(hidden), nn.ReLU(),
            nn.Linear(hidden, hidden), nn.BatchNorm1d(hidden), nn.ReLU(),
            nn.Linear(hidden, 10),
        )
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=lr)
        self.criterion = nn.CrossEntropyLoss()

    def fit(self, x, y):
        self.net.train()
        for epoch in range(self.epochs):
            total = 0.0
            for idx in torch.randperm(len(x)).split(64):
                self.optimizer.zero_grad()
                loss = self.criterion(self.net(x[idx]), y[idx])
                loss.backward()
                self.optimizer.step()
                total += loss.item() * len(idx)
            print(f"epoch {epoch} loss {total / len(x):.4f}")
        return self

    @torch.no_grad()
    def predict(self, x, batch_size=8):
        parts = [self.net(chunk).argmax(dim=1) for chunk in x.split(batch_size)]
        return torch.cat(parts)

    def score(self, x, y):
        return (self.predict(x) == y).float().mean().item()


if __name__ == "__main__":
    x, y = load_digits(return_X_y=True)
    x, y = torch.tensor(x, dtype=torch.float32) / 16, torch.tensor(y)
    order = torch.randperm(len(x), generator=torch.Generator().manual_seed(3))
    train, test = order[:1400], order[1400:1792]
    test = test[y[test].argsort(stable=True)]
    model = DigitClassifier().fit(x[train], y[train])
    print(f"test accuracy {model.score(x[test], y[test]):.3f}")
