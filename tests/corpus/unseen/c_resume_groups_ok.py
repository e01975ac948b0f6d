import os
import tempfile

import torch
import torch.nn as nn
import torch.nn.functional as F

PATH = os.path.join(tempfile.mkdtemp(), "state.pt")


class PointNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.point = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 48), nn.ReLU())
        self.head = nn.Linear(48, 3)

    def forward(self, pts):
        return self.head(self.point(pts).amax(1))


def clouds(n, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 3, (n,), generator=g)
    pts = torch.randn(n, 40, 3, generator=g)
    pts[y == 1] = F.normalize(pts[y == 1], dim=-1) * 1.5
    pts[y == 2, :, 2] *= 0.1
    return pts, y


def make_optimizer(model, resumed):
    params = model.parameters()
    return torch.optim.Adam(params, lr=1e-3 if resumed else 3e-3)


def train(epochs, resume=False):
    torch.manual_seed(1)
    model = PointNet()
    start = 0
    opt = make_optimizer(model, resume)
    if resume:
        state = torch.load(PATH, map_location="cpu")
        model.load_state_dict(state["model"])
        opt.load_state_dict(state["optimizer"])
        start = state["epoch"] + 1
    x, y = clouds(300, 0)
    xt, yt = clouds(100, 1)
    for epoch in range(start, epochs):
        model.train()
        for idx in torch.randperm(300).split(20):
            loss = F.cross_entropy(model(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
        with torch.no_grad():
            acc = (model(xt).argmax(1) == yt).float().mean().item()
        print(f"epoch {epoch} loss {loss.item():.4f} acc {acc:.3f}")
        torch.save({"model": model.state_dict(), "optimizer": opt.state_dict(), "epoch": epoch}, PATH)


train(3)
train(6, resume=True)
