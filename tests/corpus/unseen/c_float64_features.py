import numpy as np
import torch
from sklearn.datasets import load_wine
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
np.random.seed(0)


class WineDataset(Dataset):
    def __init__(self, X, y):
        self.X = torch.from_numpy(X)
        self.y = torch.from_numpy(y)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, idx):
        return self.X[idx], self.y[idx]


def get_model():
    return nn.Sequential(nn.Linear(13, 16), nn.ReLU(), nn.Linear(16, 3))


def run_fold(X_tr, y_tr, X_va, y_va, epochs=15):
    scaler = StandardScaler().fit(X_tr)
    train_loader = DataLoader(WineDataset(scaler.transform(X_tr), y_tr), batch_size=16, shuffle=True)
    val_set = WineDataset(scaler.transform(X_va), y_va)
    model = get_model()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(epochs):
        model.train()
        for xb, yb in train_loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(xb), yb)
            loss.backward()
            optimizer.step()
    model.eval()
    with torch.no_grad():
        return (model(val_set.X).argmax(1) == val_set.y).float().mean().item()


X, y = load_wine(return_X_y=True)
scores = []
for fold, (tr, va) in enumerate(StratifiedKFold(4, shuffle=True, random_state=0).split(X, y)):
    scores.append(run_fold(X[tr], y[tr], X[va], y[va]))
    print(f"fold {fold}: {scores[-1]:.4f}")
print("mean", np.mean(scores))
