import torch
from torch import nn

torch.manual_seed(0)
protos = torch.randn(20, 10)
enc = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 16))
opt = torch.optim.Adam(enc.parameters(), 2e-3)


def episode(way=5, shot=5, query=5):
    cls = torch.randperm(20)[:way]
    x = protos[cls][:, None] + 0.8 * torch.randn(way, shot + query, 10)
    return x[:, :shot], x[:, shot:]


for it in range(120):
    s, q = episode()
    c = enc(s).mean(1)
    d = torch.cdist(enc(q.reshape(-1, 10)), c)
    y = torch.arange(5).repeat_interleave(5)
    loss = nn.functional.cross_entropy(-d, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 30 == 0:
        print(it, loss.item(), ((-d).argmax(1) == y).float().mean().item())
