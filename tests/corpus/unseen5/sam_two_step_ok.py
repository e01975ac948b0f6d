"""Sharpness-aware minimisation: two backward passes per step, weights moved there and back."""
import torch
import torch.nn as nn
from sklearn.datasets import load_digits


class SAM(torch.optim.Optimizer):
    def __init__(self, params, base, rho=0.05, **kw):
        super().__init__(params, dict(rho=rho, **kw))
        self.base = base(self.param_groups, **kw)
        self.param_groups = self.base.param_groups

    @torch.no_grad()
    def ascend(self):
        grads = [p.grad.norm() for g in self.param_groups for p in g["params"] if p.grad is not None]
        norm = torch.stack(grads).norm()
        for g in self.param_groups:
            for p in g["params"]:
                if p.grad is None:
                    continue
                self.state[p]["old"] = p.detach().clone()
                p.add_(p.grad * (g["rho"] / (norm + 1e-12)))
        self.zero_grad()

    @torch.no_grad()
    def descend(self):
        for g in self.param_groups:
            for p in g["params"]:
                if p.grad is None:
                    continue
                p.copy_(self.state[p]["old"])
        self.base.step()
        self.zero_grad()


torch.manual_seed(92)
d = load_digits()
x, y = torch.tensor(d.data / 16.0, dtype=torch.float32), torch.tensor(d.target)
perm = torch.randperm(len(x))
x, y = x[perm], y[perm]
net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
opt = SAM(net.parameters(), torch.optim.SGD, rho=0.05, lr=0.1, momentum=0.9)
for epoch in range(6):
    for idx in torch.randperm(1300).split(50):
        loss = nn.functional.cross_entropy(net(x[idx]), y[idx])
        loss.backward()
        opt.ascend()
        nn.functional.cross_entropy(net(x[idx]), y[idx]).backward()
        opt.descend()
    with torch.no_grad():
        acc = (net(x[1300:]).argmax(1) == y[1300:]).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.4f} acc {acc:.4f}")
