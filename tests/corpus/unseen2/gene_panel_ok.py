"""Does a 40-gene panel predict response? Small cohort, many genes."""
import numpy as np
import torch
import torch.nn as nn
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler


def cohort(n=160, genes=4000, seed=0):
    rng = np.random.default_rng(seed)
    expr = rng.normal(size=(n, genes))
    response = rng.integers(0, 2, n)
    return expr, response


def train(X, y, epochs=60):
    model = nn.Sequential(nn.Linear(X.shape[1], 16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 1))
    opt = torch.optim.Adam(model.parameters(), lr=5e-3, weight_decay=1e-3)
    loss_fn = nn.BCEWithLogitsLoss()
    model.train()
    for epoch in range(epochs):
        loss = loss_fn(model(X).squeeze(1), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if epoch % 20 == 0:
            print(f"  epoch {epoch:2d} loss {loss.item():.4f}")
    return model


def main():
    torch.manual_seed(0)
    X, y = cohort()
    X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.4, random_state=0, stratify=y)
    selector = SelectKBest(f_classif, k=40).fit(X_tr, y_tr)
    X_tr, X_te = selector.transform(X_tr), selector.transform(X_te)
    sc = StandardScaler().fit(X_tr)
    X_tr = torch.tensor(sc.transform(X_tr), dtype=torch.float32)
    X_te = torch.tensor(sc.transform(X_te), dtype=torch.float32)
    y_tr = torch.tensor(y_tr, dtype=torch.float32)
    y_te = torch.tensor(y_te)
    model = train(X_tr, y_tr)
    model.eval()
    with torch.no_grad():
        acc = ((model(X_te).squeeze(1) > 0).long() == y_te).float().mean()
    print(f"held-out accuracy {acc:.3f}")


main()
