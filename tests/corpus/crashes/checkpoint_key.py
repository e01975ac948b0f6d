import os
import tempfile

import torch
import torch.nn as nn

FILE = os.path.join(tempfile.mkdtemp(), "last.pt")


def make():
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))


def save(model, opt, epoch):
    torch.save({"model": model.state_dict(), "opt": opt.state_dict(), "epoch": epoch}, FILE)


def restore(model, opt):
    state = torch.load(FILE)
    model.load_state_dict(state["model_state"])
    opt.load_state_dict(state["opt"])
    return state["epoch"] + 1


def fit(start, stop, model, opt):
    for epoch in range(start, stop):
        x = torch.randn(128, 4)
        loss = nn.functional.mse_loss(model(x), x.sum(1, keepdim=True))
        opt.zero_grad()
        loss.backward()
        opt.step()
        save(model, opt, epoch)
        print(epoch, loss.item())


torch.manual_seed(0)
first = make()
fit(0, 5, first, torch.optim.Adam(first.parameters(), lr=1e-2))
second = make()
optimizer = torch.optim.Adam(second.parameters(), lr=1e-2)
fit(restore(second, optimizer), 8, second, optimizer)
