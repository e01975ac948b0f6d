import torch
import torch.nn as nn
import torch.nn.functional as F


class SAM(torch.optim.Optimizer):
    def __init__(self, params, base, rho=0.05, **kw):
        super().__init__(params, dict(rho=rho, **kw))
        self.base = base(self.param_groups, **kw)
        self.param_groups = self.base.param_groups

    @torch.no_grad()
    def first_step(self):
        norm = torch.stack([p.grad.norm() for g in self.param_groups for p in g["params"]]).norm() + 1e-12
        for g in self.param_groups:
            for p in g["params"]:
                e = p.grad * (g["rho"] / norm)
                p.add_(e)
                self.state[p]["e"] = e

    @torch.no_grad()
    def second_step(self):
        for g in self.param_groups:
            for p in g["params"]:
                p.sub_(self.state[p]["e"])
        self.base.step()


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = SAM(model.parameters(), torch.optim.SGD, rho=0.05, lr=0.1, momentum=0.9)
x = torch.randn(400, 2)
y = ((x ** 2).sum(1) > 1.4).long()
for epoch in range(6):
    for idx in torch.randperm(400).split(50):
        loss = F.cross_entropy(model(x[idx]), y[idx])
        loss.backward()
        optimizer.first_step()
        optimizer.zero_grad()
        F.cross_entropy(model(x[idx]), y[idx]).backward()
        optimizer.second_step()
        optimizer.zero_grad()
    print(f"epoch {epoch} loss {loss.item():.5f}")
