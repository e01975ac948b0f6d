"""Predicts several tags of made articles."""
import torch
from sklearn.datasets import make_multilabel_classification
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def load(count=800):
    x, y = make_multilabel_classification(count, n_features=30, n_classes=6, n_labels=2, random_state=0)
    x = torch.tensor(x, dtype=torch.float32)
    x = (x - x.mean(0)) / (x.std(0) + 1e-6)
    y = torch.tensor(y)
    return x, y


class Tagger(nn.Module):
    def __init__(self, features, tags):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(features, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, tags))

    def forward(self, x):
        return self.layers(x)


class TagTrainer:
    def __init__(self, model, lr):
        self.model = model
        self.criterion = nn.BCEWithLogitsLoss()
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)

    def train_epoch(self, loader):
        self.model.train()
        total = 0.0
        for x, y in loader:
            loss = self.criterion(self.model(x), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        return total / len(loader)

    @torch.no_grad()
    def f1(self, x, y):
        self.model.eval()
        guess = self.model(x) > 0
        hits = (guess & (y > 0)).sum().item()
        return 2 * hits / max(1, guess.sum().item() + (y > 0).sum().item())


def main():
    torch.manual_seed(0)
    x, y = load()
    loader = DataLoader(TensorDataset(x[:600], y[:600]), batch_size=40, shuffle=True)
    trainer = TagTrainer(Tagger(30, 6), lr=2e-3)
    for epoch in range(8):
        loss = trainer.train_epoch(loader)
        print(f"epoch {epoch} loss {loss:.4f} f1 {trainer.f1(x[600:], y[600:]):.4f}")


if __name__ == "__main__":
    main()
