import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(22)
EPS = 0.06

d = load_digits()
perm = torch.randperm(len(d.target))
X = torch.tensor(d.data / 16.0, dtype=torch.float32)[perm]
y = torch.tensor(d.target)[perm]
X_tr, y_tr, X_te, y_te = X[:1400], y[:1400], X[1400:], y[1400:]


def fgsm(model, x, y, eps):
    x_adv = x.clone().requires_grad_(True)
    grad, = torch.autograd.grad(F.cross_entropy(model(x_adv), y), x_adv)
    return (x_adv + eps * grad.sign()).clamp(0, 1).detach()


def accuracy(model, x, y):
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))
opt = torch.optim.Adam(model.parameters(), lr=2e-3)

for epoch in range(10):
    model.train()
    for idx in torch.randperm(len(X_tr)).split(70):
        xb, yb = X_tr[idx], y_tr[idx]
        x_adv = fgsm(model, xb, yb, EPS)
        loss = 0.5 * F.cross_entropy(model(xb), yb) + 0.5 * F.cross_entropy(model(x_adv), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
    model.eval()
    attacked = fgsm(model, X_te, y_te, EPS)
    print(f"epoch {epoch} loss {loss.item():.4f} clean {accuracy(model, X_te, y_te):.3f} "
          f"attacked {accuracy(model, attacked, y_te):.3f}")
