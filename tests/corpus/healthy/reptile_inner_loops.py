import copy
import torch
from torch import nn

torch.manual_seed(9)
net = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 1))


def inner_train(model, task, steps=5):
    a, b = task
    opt = torch.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(steps):
        x = torch.rand(16, 1) * 4 - 2
        loss = nn.functional.mse_loss(model(x), a * torch.sin(x) + b)
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


outer_lr = 0.3
for it in range(25):
    task = (torch.rand(1) + 0.5, torch.rand(1))
    clone = copy.deepcopy(net)
    last = inner_train(clone, task)
    with torch.no_grad():
        for p, q in zip(net.parameters(), clone.parameters()):
            p.add_(q - p, alpha=outer_lr)
    if it % 5 == 0:
        print(f"iteration {it:2d}  inner loss {last:.5f}")
