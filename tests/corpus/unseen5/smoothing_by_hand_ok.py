"""Label smoothing and mixup written by hand, soft cross entropy."""
import torch
import torch.nn as nn
from sklearn.datasets import load_digits


def smooth_one_hot(y, classes, eps=0.1):
    target = torch.full((len(y), classes), eps / (classes - 1))
    target.scatter_(1, y[:, None], 1 - eps)
    return target


def soft_cross_entropy(logits, target):
    return -(target * logits.log_softmax(dim=1)).sum(dim=1).mean()


def mixup(x, t, alpha=0.3):
    lam = torch.distributions.Beta(alpha, alpha).sample().item()
    perm = torch.randperm(len(x))
    return lam * x + (1 - lam) * x[perm], lam * t + (1 - lam) * t[perm]


torch.manual_seed(14)
d = load_digits()
x = torch.tensor(d.images, dtype=torch.float32)[:, None] / 16
y = torch.tensor(d.target)
train, test = slice(0, 1400), slice(1400, None)
net = nn.Sequential(
    nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(12, 24, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(96, 10),
)
opt = torch.optim.AdamW(net.parameters(), lr=4e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=8)
x_tr, y_tr = x[train], y[train]
for epoch in range(8):
    net.train()
    for idx in torch.randperm(len(x_tr)).split(64):
        xb, tb = mixup(x_tr[idx], smooth_one_hot(y_tr[idx], 10))
        loss = soft_cross_entropy(net(xb), tb)
        opt.zero_grad()
        loss.backward()
        opt.step()
    sched.step()
    net.eval()
    with torch.no_grad():
        acc = (net(x[test]).argmax(1) == y[test]).float().mean().item()
    print(f"epoch {epoch} train loss {loss.item():.4f} test acc {acc:.4f}")
