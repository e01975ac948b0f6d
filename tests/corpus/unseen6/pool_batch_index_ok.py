import torch
from torch import nn

torch.manual_seed(0)


def graphs(n):
    out = []
    for _ in range(n):
        k = int(torch.randint(4, 9, ()))
        x = torch.randn(k, 6)
        out.append((x, (x[:, 0].sum() > 0).long()))
    return out


def collate(items):
    x = torch.cat([g for g, _ in items])
    sizes = torch.tensor([len(g) for g, _ in items])
    index = torch.arange(len(items)).repeat_interleave(sizes)
    return x, index, torch.stack([y for _, y in items])


enc, out = nn.Sequential(nn.Linear(6, 32), nn.ReLU()), nn.Linear(32, 2)
opt = torch.optim.Adam([*enc.parameters(), *out.parameters()], 5e-3)
data = graphs(600)
for epoch in range(6):
    for i in torch.randperm(600).split(30):
        x, index, y = collate([data[j] for j in i.tolist()])
        pooled = torch.zeros(30, 32).index_add(0, index, enc(x))
        loss = nn.functional.cross_entropy(out(pooled), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
