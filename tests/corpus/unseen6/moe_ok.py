import torch
from torch import nn

torch.manual_seed(0)
experts = nn.ModuleList([nn.Linear(8, 8) for _ in range(6)])
gate, head = nn.Linear(8, 6), nn.Linear(8, 3)
opt = torch.optim.Adam([*experts.parameters(), *gate.parameters(), *head.parameters()], 3e-3)
x = torch.randn(600, 8)
y = (x[:, 0] > 0).long() + (x[:, 1] > 0).long()
for epoch in range(6):
    for i in torch.randperm(600).split(30):
        a = x[i]
        p = gate(a).softmax(-1)
        w, k = p.max(-1)
        h = torch.zeros_like(a)
        for e in range(6):
            sel = k == e
            if sel.any():
                h[sel] = w[sel, None] * experts[e](a[sel]).relu()
        balance = 6 * (p.mean(0) * nn.functional.one_hot(k, 6).float().mean(0)).sum()
        loss = nn.functional.cross_entropy(head(h), y[i]) + 0.01 * balance
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
