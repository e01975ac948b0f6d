"""Sharpness-aware minimization: an optimizer of the user's own with two backwards a step."""
import torch
import torch.nn.functional as F
from torch import nn


class SAM(torch.optim.Optimizer):
    def __init__(self, params, base, rho=0.05, **kwargs):
        super().__init__(params, dict(rho=rho, **kwargs))
        self.base = base(self.param_groups, **kwargs)

    @torch.no_grad()
    def step(self, closure):
        closure = torch.enable_grad()(closure)
        scale = 0.05 / torch.stack([p.grad.norm() for g in self.param_groups for p in g["params"]]).norm()
        for group in self.param_groups:
            for p in group["params"]:
                self.state[p]["old"] = p.clone()
                p.add_(p.grad * scale)
        self.zero_grad()
        loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                p.copy_(self.state[p]["old"])
        self.base.step()
        return loss


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
optimizer = SAM(model.parameters(), torch.optim.SGD, lr=0.1)
x, y = torch.randn(9, 4), torch.randint(0, 3, (9,))


def closure():
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    return loss


for step in range(5):
    first = closure().item()
    second = optimizer.step(closure).item()
    optimizer.zero_grad()
    print(step, first, second)
