import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler


def fit_fold(X_tr, y_tr, X_va, y_va, epochs=3):
    model = nn.Sequential(nn.Linear(30, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 1))
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    bce = nn.BCEWithLogitsLoss()
    for _ in range(epochs):
        model.train()
        for idx in torch.randperm(len(X_tr)).split(64):
            loss = bce(model(X_tr[idx]).squeeze(1), y_tr[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
    model.eval()
    with torch.no_grad():
        logits = model(X_va).squeeze(1)
    return loss.item(), ((logits > 0).float() == y_va).float().mean().item()


torch.manual_seed(0)
X, y = load_breast_cancer(return_X_y=True)
scores = []
for fold, (tr, va) in enumerate(KFold(5, shuffle=True, random_state=0).split(X)):
    scaler = StandardScaler().fit(X[tr])
    as_t = lambda a: torch.tensor(a, dtype=torch.float32)
    loss, acc = fit_fold(as_t(scaler.transform(X[tr])), as_t(y[tr]), as_t(scaler.transform(X[va])), as_t(y[va]))
    scores.append(acc)
    print(f"fold {fold} loss {loss:.5f} acc {acc:.4f}")
print(f"mean {np.mean(scores):.4f} std {np.std(scores):.4f}")
