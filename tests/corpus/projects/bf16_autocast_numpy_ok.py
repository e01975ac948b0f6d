"""Trains with autocast on the CPU and keeps scores of the validation set in numpy."""
import numpy as np
import torch
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def load():
    x, y = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(x))
    x, y = x[order], y[order]
    mean, std = x[:400].mean(0), x[:400].std(0)
    x = torch.tensor((x - mean) / std, dtype=torch.float32)
    y = torch.tensor(y, dtype=torch.float32)
    return TensorDataset(x[:400], y[:400]), TensorDataset(x[400:], y[400:])


class Net(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(features, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        return self.layers(x).squeeze(1)


def train_epoch(model, loader, optimizer):
    model.train()
    for x, y in loader:
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = model(x)
        loss = nn.functional.binary_cross_entropy_with_logits(logits.float(), y)
        loss.backward()
        optimizer.step()
    return loss.item()


@torch.no_grad()
def validate(model, loader):
    model.eval()
    scores, labels = [], []
    for x, y in loader:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = model(x)
        scores.append(torch.sigmoid(logits).float().numpy())
        labels.append(y.numpy())
    return roc_auc_score(np.concatenate(labels), np.concatenate(scores))


def main():
    torch.manual_seed(0)
    train, val = load()
    loader, val_loader = DataLoader(train, 40, shuffle=True), DataLoader(val, 64)
    model = Net(30)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for epoch in range(6):
        loss = train_epoch(model, loader, optimizer)
        print(f"epoch {epoch} loss {loss:.4f} auc {validate(model, val_loader):.4f}")


if __name__ == "__main__":
    main()
