"""Small tabular classifier, widths from the command line."""
import argparse

import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--hidden", type=int, nargs="+", default=[32, 24, 16])
    p.add_argument("--lr", type=float, default=5e-3)
    p.add_argument("--epochs", type=int, default=15)
    p.add_argument("--seed", type=int, default=3)
    return p.parse_args()


def build_mlp(n_in, hidden, n_out):
    layers = []
    width = n_in
    for h in hidden:
        layers += [nn.Linear(width, h), nn.BatchNorm1d(h), nn.ReLU()]
        width = h
    layers.append(nn.Linear(width, n_out))
    return nn.Sequential(*layers)


def main():
    args = parse_args()
    torch.manual_seed(args.seed)
    X, y = load_wine(return_X_y=True)
    X_tr, X_va, y_tr, y_va = train_test_split(X, y, test_size=0.3, random_state=args.seed, stratify=y)
    scaler = StandardScaler().fit(X_tr)
    X_tr = torch.from_numpy(scaler.transform(X_tr).astype(np.float32))
    X_va = torch.from_numpy(scaler.transform(X_va).astype(np.float32))
    y_tr, y_va = torch.from_numpy(y_tr).long(), torch.from_numpy(y_va).long()

    net = build_mlp(X_tr.shape[1], args.hidden, 3)
    opt = torch.optim.AdamW(net.parameters(), lr=args.lr)
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(args.epochs):
        net.train()
        perm = torch.randperm(len(X_tr))
        running = 0.0
        for idx in perm.split(31):
            opt.zero_grad(set_to_none=True)
            loss = loss_fn(net(X_tr[idx]), y_tr[idx])
            loss.backward()
            opt.step()
            running += loss.item() * len(idx)
        net.eval()
        with torch.no_grad():
            acc = (net(X_va).argmax(1) == y_va).float().mean().item()
        print(f"epoch {epoch:2d} loss {running / len(X_tr):.6f} val_acc {acc:.4f}")


if __name__ == "__main__":
    main()
