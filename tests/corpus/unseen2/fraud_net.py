import argparse

import torch
from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score, recall_score
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=8)
    p.add_argument("--batch-size", type=int, default=64)
    p.add_argument("--lr", type=float, default=2e-3)
    return p.parse_args()


def build_data():
    X, y = make_classification(n_samples=4000, n_features=20, n_informative=8, weights=[0.92], class_sep=0.9,
                               random_state=7)
    return [torch.tensor(a, dtype=torch.float32) for a in
            train_test_split(X, y, test_size=0.3, stratify=y, random_state=7)]


def main():
    args = parse_args()
    torch.manual_seed(7)
    X_tr, X_te, y_tr, y_te = build_data()
    n_pos = y_tr.sum()
    n_neg = len(y_tr) - n_pos
    pos_weight = n_pos / n_neg
    criterion = nn.BCEWithLogitsLoss(pos_weight=pos_weight)
    model = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 1))
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    loader = DataLoader(TensorDataset(X_tr, y_tr), batch_size=args.batch_size, shuffle=True)
    print(f"positives {int(n_pos)} negatives {int(n_neg)}")
    for epoch in range(args.epochs):
        tot = 0.0
        for x, y in loader:
            loss = criterion(model(x).squeeze(1), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot += loss.item()
        print(f"epoch {epoch}: loss {tot / len(loader):.4f}")
    model.eval()
    with torch.no_grad():
        pred = (model(X_te).squeeze(1) > 0).long()
    print("recall of fraud:", recall_score(y_te, pred))
    print("balanced accuracy:", balanced_accuracy_score(y_te, pred))


if __name__ == "__main__":
    main()
