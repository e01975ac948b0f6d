import torch
import torch.nn as nn
from sklearn.datasets import make_friedman2
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch.optim.lr_scheduler import ReduceLROnPlateau


def data(seed=0):
    X, y = make_friedman2(1500, noise=20.0, random_state=seed)
    X_tr, X_va, y_tr, y_va = train_test_split(X, y.reshape(-1, 1), test_size=0.3, random_state=seed)
    sx, sy = StandardScaler().fit(X_tr), StandardScaler().fit(y_tr)
    out = sx.transform(X_tr), sx.transform(X_va), sy.transform(y_tr), sy.transform(y_va)
    return [torch.tensor(a, dtype=torch.float32) for a in out]


def step_epoch(model, opt, X, y, bs=64):
    model.train()
    total = 0.0
    for idx in torch.randperm(len(X)).split(bs):
        loss = nn.functional.mse_loss(model(X[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(idx)
    return total / len(X)


def main():
    torch.manual_seed(0)
    X_tr, X_va, y_tr, y_va = data()
    model = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
    opt = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    scheduler = ReduceLROnPlateau(opt, mode="max", factor=0.3, patience=2)
    for epoch in range(40):
        tr = step_epoch(model, opt, X_tr, y_tr)
        model.eval()
        with torch.no_grad():
            val_loss = nn.functional.mse_loss(model(X_va), y_va).item()
        scheduler.step(val_loss)
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1:2d} train {tr:.4f} val {val_loss:.4f} lr {opt.param_groups[0]['lr']:.2e}")


main()
