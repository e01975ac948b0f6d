"""Adversarial training: the inner step maximises the loss with respect to the input."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits


def pgd(model, x, y, eps=0.1, alpha=0.05, steps=2):
    was_training = model.training
    model.eval()
    delta = torch.empty_like(x).uniform_(-eps, eps).requires_grad_(True)
    for _ in range(steps):
        loss = F.cross_entropy(model((x + delta).clamp(0, 1)), y)
        (grad,) = torch.autograd.grad(loss, delta)
        with torch.no_grad():
            delta += alpha * grad.sign()
            delta.clamp_(-eps, eps)
    model.train(was_training)
    return (x + delta).clamp(0, 1).detach()


def accuracy(model, x, y):
    model.eval()
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


torch.manual_seed(96)
d = load_digits()
x, y = torch.tensor(d.data / 16.0, dtype=torch.float32), torch.tensor(d.target)
perm = torch.randperm(len(x))
x, y = x[perm], y[perm]
net = nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Dropout(0.1), nn.Linear(96, 10))
opt = torch.optim.Adam(net.parameters(), lr=4e-3)
for epoch in range(8):
    net.train()
    for idx in torch.randperm(1300).split(65):
        adv = pgd(net, x[idx], y[idx])
        loss = F.cross_entropy(net(adv), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 2 == 1:
        x_te, y_te = x[1300:], y[1300:]
        robust = accuracy(net, pgd(net.eval(), x_te, y_te), y_te)
        print(f"epoch {epoch} adv loss {loss.item():.4f} clean {accuracy(net, x_te, y_te):.4f} robust {robust:.4f}")
