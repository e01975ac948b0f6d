"""Classify wines by cultivar with a small MLP."""
import numpy as np
import torch
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn


def get_data(seed):
    X, y = load_wine(return_X_y=True)
    X_train, X_val, y_train, y_val = train_test_split(X, y, test_size=0.3, random_state=seed, stratify=y)
    scaler = StandardScaler().fit(X_train)
    X_train, X_val = scaler.transform(X_train), scaler.transform(X_val)
    as_tensors = [torch.tensor(a, dtype=torch.float32) for a in (X_train, X_val, y_train, y_val)]
    return as_tensors


def build(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, 32), nn.ReLU(), nn.Linear(32, n_out))


def fit(model, X, y, epochs=60, lr=0.01):
    opt = torch.optim.Adam(model.parameters(), lr=lr)
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        perm = torch.randperm(len(X))
        for idx in perm.split(32):
            out = model(X[idx])
            loss = loss_fn(out, y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
        if epoch % 20 == 0:
            print(f"[{epoch:03d}] loss={loss.item():.4f}")
    return model


def main():
    torch.manual_seed(11)
    X_train, X_val, y_train, y_val = get_data(seed=3)
    model = fit(build(X_train.shape[1], 3), X_train, y_train)
    model.eval()
    with torch.no_grad():
        acc = (model(X_val).argmax(1) == y_val).float().mean()
    print(f"validation accuracy: {acc:.3f}")


if __name__ == "__main__":
    main()
