"""Cultivar classifier with AUC model selection."""
import copy

import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_wine
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch.utils.data import DataLoader, TensorDataset


def load(seed):
    x, y = load_wine(return_X_y=True)
    x_tr, x_va, y_tr, y_va = train_test_split(x, y, test_size=0.35, stratify=y, random_state=seed)
    sc = StandardScaler().fit(x_tr)
    to = lambda a: torch.tensor(sc.transform(a), dtype=torch.float32)
    return to(x_tr), torch.tensor(y_tr), to(x_va), torch.tensor(y_va)


def evaluate(model, x, y):
    model.eval()
    with torch.no_grad():
        prob = model(x).softmax(1).double().numpy()
    prob = prob / prob.sum(axis=1, keepdims=True)
    auc = roc_auc_score(y.numpy(), prob)
    return auc, accuracy_score(y.numpy(), np.argmax(prob, axis=1))


def main(seed=14, epochs=15):
    torch.manual_seed(seed)
    x_tr, y_tr, x_va, y_va = load(seed)
    loader = DataLoader(TensorDataset(x_tr, y_tr), batch_size=16, shuffle=True)
    model = nn.Sequential(nn.Linear(13, 32), nn.ReLU(), nn.Dropout(0.3), nn.Linear(32, 3))
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    best, best_state = -1.0, None
    for epoch in range(epochs):
        model.train()
        for xb, yb in loader:
            opt.zero_grad()
            loss = nn.functional.cross_entropy(model(xb), yb)
            loss.backward()
            opt.step()
        auc, acc = evaluate(model, x_va, y_va)
        if auc > best:
            best, best_state = auc, copy.deepcopy(model.state_dict())
        print(f"{epoch:02d} loss {loss.item():.3f} auc {auc:.4f} acc {acc:.3f}")
    model.load_state_dict(best_state)
    print("best auc", round(best, 4))


if __name__ == "__main__":
    main()
