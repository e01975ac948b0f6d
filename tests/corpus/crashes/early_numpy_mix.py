import numpy as np
import torch


def features(n):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 3))
    return (x - x.mean(0)) / x.std(0)


torch.manual_seed(0)
x = features(50)
w = torch.zeros(3, 1, requires_grad=True)
target = torch.ones(50, 1)
opt = torch.optim.SGD([w], lr=0.1)
for step in range(20):
    pred = torch.matmul(x, w)
    loss = (pred - target).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
