import torch
import torch.nn as nn
from sklearn.datasets import make_friedman1
from torch.utils.data import DataLoader, TensorDataset


class Experiment:
    def __init__(self, seed=0, epochs=25):
        torch.manual_seed(seed)
        X, y = make_friedman1(480, n_features=15, noise=2.0, random_state=seed)
        y = (y - y[:180].mean()) / y[:180].std()
        X, y = torch.tensor(X).float(), torch.tensor(y).float()
        self.train_loader = DataLoader(TensorDataset(X[:180], y[:180]), batch_size=20, shuffle=True)
        self.val_loader = DataLoader(TensorDataset(X[180:], y[180:]), batch_size=100)
        self.epochs = epochs
        self.model = nn.Sequential(
            nn.Linear(15, 128), nn.BatchNorm1d(128), nn.ReLU(), nn.Dropout(0.4),
            nn.Linear(128, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.4),
            nn.Linear(64, 1),
        )
        self.opt = torch.optim.Adam(self.model.parameters(), lr=3e-3)

    def fit_epoch(self):
        total = 0.0
        for x, y in self.train_loader:
            loss = nn.functional.mse_loss(self.model(x).squeeze(-1), y)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            total += loss.item()
        return total / len(self.train_loader)

    def validate(self):
        self.model.eval()
        se, n = 0.0, 0
        with torch.no_grad():
            for x, y in self.val_loader:
                se += (self.model(x).squeeze(-1) - y).pow(2).sum().item()
                n += len(y)
        return se / n

    def run(self):
        self.model.train()
        for epoch in range(self.epochs):
            tr = self.fit_epoch()
            va = self.validate()
            print(f"epoch {epoch}: train {tr:.4f} val {va:.4f}")


if __name__ == "__main__":
    Experiment().run()
