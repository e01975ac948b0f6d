import torch
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

torch.manual_seed(0)


def load():
    raw = load_breast_cancer()
    x = torch.tensor(StandardScaler().fit_transform(raw.data), dtype=torch.float32)
    y = torch.tensor(raw.target, dtype=torch.float32)
    perm = torch.randperm(len(x))
    return x[perm[:450]], y[perm[:450]], x[perm[450:]], y[perm[450:]]


def init_params(d, h):
    w1 = (torch.randn(d, h) / d ** 0.5).requires_grad_()
    b1 = torch.zeros(h, requires_grad=True)
    w2 = (torch.randn(h) / h ** 0.5).requires_grad_()
    b2 = torch.zeros((), requires_grad=True)
    return [w1, b1, w2, b2]


def net(params, x):
    w1, b1, w2, b2 = params
    return torch.tanh(x @ w1 + b1) @ w2 + b2


def bce(logits, y):
    return (logits.clamp(min=0) - logits * y + torch.log1p(torch.exp(-logits.abs()))).mean()


def sgd(params, lr):
    with torch.no_grad():
        for p in params:
            p -= lr * p.grad
            p.grad.zero_()


def data_iter(x, y, size):
    for idx in torch.randperm(len(x)).split(size):
        yield x[idx], y[idx]


x_train, y_train, x_test, y_test = load()
params = init_params(30, 16)
for epoch in range(8):
    for xb, yb in data_iter(x_train, y_train, 30):
        loss = bce(net(params, xb), yb)
        loss.backward()
        sgd(params, lr=0.3)
    with torch.no_grad():
        acc = ((net(params, x_test) > 0).float() == y_test).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.4f} test acc {acc:.4f}")
