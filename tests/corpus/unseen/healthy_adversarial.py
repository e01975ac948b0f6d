import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(0)
EPS, ALPHA = 0.1, 0.05
d = load_digits()
X = torch.tensor(d.images / 16.0, dtype=torch.float32).unsqueeze(1)
y = torch.tensor(d.target)
X_train, y_train, X_test, y_test = X[:1300], y[:1300], X[1300:], y[1300:]

model = nn.Sequential(
    nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, 10))
opt = torch.optim.Adam(model.parameters(), lr=2e-3)


def attack(x, t, steps):
    delta = torch.empty_like(x).uniform_(-EPS, EPS).requires_grad_()
    for _ in range(steps):
        loss = F.cross_entropy(model((x + delta).clamp(0, 1)), t)
        grad, = torch.autograd.grad(loss, delta)
        with torch.no_grad():
            delta += ALPHA * grad.sign()
            delta.clamp_(-EPS, EPS)
    return (x + delta).clamp(0, 1).detach()


def robust_accuracy(steps):
    model.eval()
    adv = attack(X_test, y_test, steps)
    with torch.no_grad():
        return (model(adv).argmax(1) == y_test).float().mean().item()


for epoch in range(6):
    for idx in torch.randperm(1300).split(65):
        model.eval()
        adv = attack(X_train[idx], y_train[idx], 2)
        model.train()
        clean_logits, adv_logits = model(torch.cat([X_train[idx], adv])).chunk(2)
        loss = F.cross_entropy(clean_logits, y_train[idx]) + 0.5 * F.kl_div(
            F.log_softmax(adv_logits, 1), F.softmax(clean_logits, 1), reduction="batchmean")
        opt.zero_grad()
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        clean = (model(X_test).argmax(1) == y_test).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.4f} clean {clean:.4f} pgd {robust_accuracy(4):.4f}")
