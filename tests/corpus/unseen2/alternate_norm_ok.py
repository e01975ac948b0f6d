"""Fine-tune on a shifted domain with tiny batches: normalisation layers keep their source statistics."""
import torch
import torch.nn as nn
from sklearn.datasets import load_digits


def domain(X, shift):
    return X * (1 - shift) + shift * 0.5 + 0.05 * torch.randn_like(X)


def build():
    return nn.Sequential(nn.Linear(64, 80), nn.BatchNorm1d(80), nn.ReLU(), nn.Linear(80, 10))


def freeze_norm_stats(net):
    for m in net.modules():
        if isinstance(m, nn.modules.batchnorm._BatchNorm):
            m.eval()


@torch.no_grad()
def accuracy(net, X, y):
    net.eval()
    return (net(X).argmax(1) == y).float().mean().item()


def run(net, X, y, epochs, bs, lr, keep_stats):
    opt = torch.optim.SGD(net.parameters(), lr=lr, momentum=0.9)
    for epoch in range(epochs):
        net.train()
        if keep_stats:
            freeze_norm_stats(net)
        total = 0.0
        for idx in torch.randperm(len(X)).split(bs):
            loss = nn.functional.cross_entropy(net(X[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
        print(f"  epoch {epoch} loss {total / len(X):.4f}")


torch.manual_seed(24)
d = load_digits()
perm = torch.randperm(len(d.target))
X = torch.tensor(d.data / 16.0, dtype=torch.float32)[perm]
y = torch.tensor(d.target)[perm]
source, target = X[:1200], domain(X[1200:], 0.3)
net = build()
print("source domain")
run(net, source, y[:1200], 5, 60, 0.05, keep_stats=False)
print("target accuracy before", accuracy(net, target[200:], y[1400:]))
print("fine-tuning with batches of 2")
run(net, target[:200], y[1200:1400], 3, 2, 0.002, keep_stats=True)
print("target accuracy after", accuracy(net, target[200:], y[1400:]))
