import os
import tempfile
import torch
from torch import nn


def build():
    torch.manual_seed(17)
    model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=10)
    return model, opt, sched


def run(model, opt, sched, start, stop, gen):
    for epoch in range(start, stop):
        for _ in range(15):
            x = torch.randn(32, 6, generator=gen)
            y = (x[:, :1] * x[:, 1:2])
            loss = nn.functional.mse_loss(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        sched.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")


path = os.path.join(tempfile.mkdtemp(), "last.pt")
model, opt, sched = build()
gen = torch.Generator().manual_seed(1)
run(model, opt, sched, 0, 5, gen)
torch.save({"model": model.state_dict(), "opt": opt.state_dict(), "sched": sched.state_dict(),
            "gen": gen.get_state(), "epoch": 5}, path)
run(model, opt, sched, 5, 10, gen)

model2, opt2, sched2 = build()
ck = torch.load(path, weights_only=True)
model2.load_state_dict(ck["model"])
opt2.load_state_dict(ck["opt"])
sched2.load_state_dict(ck["sched"])
gen2 = torch.Generator()
gen2.set_state(ck["gen"])
run(model2, opt2, sched2, ck["epoch"], 10, gen2)
print("same weights", all(torch.allclose(a, b) for a, b in zip(model.parameters(), model2.parameters())))
