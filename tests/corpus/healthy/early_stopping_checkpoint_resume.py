import os
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(120, 12)
y = x[:, :2].sum(1, keepdim=True) + 0.5 * torch.randn(120, 1)
xv = torch.randn(120, 12)
yv = xv[:, :2].sum(1, keepdim=True) + 0.5 * torch.randn(120, 1)


def build():
    net = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 1))
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    return net, opt, torch.optim.lr_scheduler.ExponentialLR(opt, 0.97)


def run(path, until, patience=4):
    net, opt, sched = build()
    state = {"epoch": 0, "best": float("inf"), "bad": 0}
    if os.path.exists(path):
        ckpt = torch.load(path, weights_only=True)
        net.load_state_dict(ckpt["net"]); opt.load_state_dict(ckpt["opt"]); sched.load_state_dict(ckpt["sched"])
        state = ckpt["state"]
    while state["epoch"] < until and state["bad"] < patience:
        net.train()
        for idx in torch.randperm(120).split(20):
            loss = nn.functional.mse_loss(net(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
        sched.step()
        net.eval()
        with torch.no_grad():
            val = nn.functional.mse_loss(net(xv), yv).item()
        state["bad"] = 0 if val < state["best"] else state["bad"] + 1
        state["best"] = min(val, state["best"])
        state["epoch"] += 1
        print(f"epoch {state['epoch']:2d} train {loss.item():.5f} val {val:.5f}")
        torch.save({"net": net.state_dict(), "opt": opt.state_dict(), "sched": sched.state_dict(), "state": state}, path)
    return state


run("last.pt", until=5)
print("resuming")
print("best", round(run("last.pt", until=25)["best"], 5))
