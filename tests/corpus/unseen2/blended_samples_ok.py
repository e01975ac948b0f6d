import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


def mixup(x, y, n_classes, alpha, rng):
    lam = float(rng.beta(alpha, alpha))
    perm = torch.randperm(len(x))
    onehot = nn.functional.one_hot(y, n_classes).float()
    return lam * x + (1 - lam) * x[perm], lam * onehot + (1 - lam) * onehot[perm]


def main():
    torch.manual_seed(15)
    rng = np.random.default_rng(15)
    X, y = load_digits(return_X_y=True)
    X_tr, X_te, y_tr, y_te = train_test_split(X / 16.0, y, test_size=0.25, random_state=15)
    X_tr, X_te = torch.tensor(X_tr).float(), torch.tensor(X_te).float()
    y_tr, y_te = torch.tensor(y_tr), torch.tensor(y_te)
    net = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, 10))
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    ce = nn.CrossEntropyLoss()
    for epoch in range(10):
        net.train()
        soft = 0.0
        batches = torch.randperm(len(X_tr)).split(64)
        for idx in batches:
            xb, yb = mixup(X_tr[idx], y_tr[idx], 10, 0.4, rng)
            loss = ce(net(xb), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            soft += loss.item()
        net.eval()
        with torch.no_grad():
            out = net(X_te)
            print(f"epoch {epoch} mixed loss {soft / len(batches):.3f} "
                  f"test loss {ce(out, y_te).item():.3f} acc {(out.argmax(1) == y_te).float().mean().item():.3f}")


if __name__ == "__main__":
    main()
