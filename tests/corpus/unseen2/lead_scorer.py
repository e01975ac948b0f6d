import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import make_classification
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset


def make_loaders(seed, bs=64):
    X, y = make_classification(n_samples=3000, n_features=20, n_informative=5, weights=[0.9, 0.1],
                               class_sep=0.8, random_state=seed)
    X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.3, random_state=seed, stratify=y)
    pack = lambda a, b: TensorDataset(torch.tensor(a, dtype=torch.float32), torch.tensor(b, dtype=torch.float32))
    return DataLoader(pack(X_tr, y_tr), bs, shuffle=True), DataLoader(pack(X_va, y_va), 256)


class Scorer(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(d, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        return torch.sigmoid(self.body(x)).squeeze(-1)


def evaluate(model, loader):
    model.eval()
    preds, targets = [], []
    with torch.no_grad():
        for x, y in loader:
            prob = model(x)
            preds.append((prob > 0.5).float().numpy())
            targets.append(y.numpy())
    return roc_auc_score(np.concatenate(targets), np.concatenate(preds))


def main():
    torch.manual_seed(4)
    train_loader, val_loader = make_loaders(4)
    model = Scorer(20)
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(8):
        model.train()
        for x, y in train_loader:
            loss = nn.functional.binary_cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(f"epoch {epoch} loss {loss.item():.4f} val AUC {evaluate(model, val_loader):.4f}")


if __name__ == "__main__":
    main()
