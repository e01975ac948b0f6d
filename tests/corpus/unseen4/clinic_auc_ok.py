import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import make_classification
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

torch.manual_seed(24)
X, y = make_classification(n_samples=2500, n_features=15, n_informative=6, weights=[0.9], flip_y=0.02,
                           class_sep=0.8, random_state=24)
X_tr, X_va, y_tr, y_va = train_test_split(X.astype(np.float32), y, test_size=0.3, stratify=y, random_state=24)
mu, sd = X_tr.mean(0), X_tr.std(0)
X_tr, X_va = torch.from_numpy((X_tr - mu) / sd), torch.from_numpy((X_va - mu) / sd)
y_tr_t = torch.from_numpy(y_tr).float()

model = nn.Sequential(nn.Linear(15, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
criterion = nn.BCEWithLogitsLoss()


def validation_auc():
    model.eval()
    with torch.no_grad():
        prob = torch.sigmoid(model(X_va)).squeeze(1)
    pred = (prob > 0.5).long()
    acc = (pred.numpy() == y_va).mean()
    auc = roc_auc_score(y_va, prob.numpy())
    return acc, auc


for epoch in range(10):
    model.train()
    for idx in torch.randperm(len(X_tr)).split(64):
        opt.zero_grad()
        loss = criterion(model(X_tr[idx]).squeeze(1), y_tr_t[idx])
        loss.backward()
        opt.step()
    acc, auc = validation_auc()
    print(f"epoch {epoch}: loss {loss.item():.4f} acc {acc:.3f} auc {auc:.3f}")
