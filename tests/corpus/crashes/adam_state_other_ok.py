import torch
import torch.nn as nn


def model_():
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))


def grouped(model, decay):
    weights = [p for p in model.parameters() if p.ndim > 1]
    others = [p for p in model.parameters() if p.ndim <= 1]
    groups = [{"params": weights, "weight_decay": decay}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=1e-2)


def steps(model, opt, n):
    for _ in range(n):
        x = torch.randn(32, 4)
        loss = (model(x) - x.mean(1, keepdim=True)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


torch.manual_seed(0)
first = model_()
opt = grouped(first, 0.1)
print(steps(first, opt, 10))
state = {"model": first.state_dict(), "opt": opt.state_dict()}
second = model_()
opt2 = grouped(second, 0.1)
second.load_state_dict(state["model"])
opt2.load_state_dict(state["opt"])
print(steps(second, opt2, 10))
