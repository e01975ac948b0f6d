import collections

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def make_claims(n):
    x = torch.randn(n, 5)
    level = x[:, 0] + 0.5 * x[:, 1]
    y = torch.zeros(n, dtype=torch.long)
    y[level > 0.9] = 1
    y[level > 1.6] = 2
    return x, y


def class_weights(labels, n_classes, device):
    counts = collections.Counter(labels.tolist())
    total = len(labels)
    weights = [total / (n_classes * counts[c]) for c in range(n_classes)]
    return torch.tensor(weights, device=device)


def main():
    torch.manual_seed(44)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    x, y = make_claims(700)
    loader = DataLoader(TensorDataset(x, y), batch_size=70, shuffle=True)
    model = nn.Sequential(nn.Linear(5, 24), nn.ReLU(), nn.Linear(24, 3)).to(device)
    criterion = nn.CrossEntropyLoss(weight=class_weights(y, 3, device))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(8):
        losses = []
        for xb, yb in loader:
            xb, yb = xb.to(device), yb.to(device)
            optimizer.zero_grad()
            loss = criterion(model(xb), yb)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch} weighted ce {sum(losses) / len(losses):.6f}")


if __name__ == "__main__":
    main()
