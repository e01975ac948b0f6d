import torch
import torch.nn as nn

WEIGHTS = {"shape": 1.0, "color": 0.5}


def combine(losses):
    total = 0.0
    for name, loss in losses.items():
        total += WEIGHTS[name] * loss
    return total


torch.manual_seed(0)
body = nn.Linear(8, 16)
heads = nn.ModuleDict({"shape": nn.Linear(16, 3), "color": nn.Linear(16, 2)})
opt = torch.optim.Adam([*body.parameters(), *heads.parameters()], lr=1e-2)
x = torch.randn(200, 8)
targets = {"shape": x[:, :3].argmax(1), "color": (x[:, 4] > 0).long()}
for epoch in range(10):
    h = torch.relu(body(x))
    losses = {k: nn.functional.cross_entropy(heads[k](h), targets[k]) for k in heads}
    loss = combine(losses)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(float(loss))
