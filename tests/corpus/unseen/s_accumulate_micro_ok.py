import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
ACCUM = 8
MICRO = 4


def noisy_task(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 30, generator=g)
    w = torch.Generator().manual_seed(99)
    beta = torch.randn(30, generator=w)
    p = torch.sigmoid(x @ beta * 0.35)
    return x, (torch.rand(n, generator=g) < p).float()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(30, 1)

    def forward(self, x):
        return self.lin(x).squeeze(1)


x, y = noisy_task(2048, 1)
xt, yt = noisy_task(2000, 2)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.3)
lr_sched = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.3, total_iters=60)

updates = 0
for epoch in range(1):
    perm = torch.randperm(len(x))
    for i, idx in enumerate(perm.split(MICRO)):
        logits = net(x[idx])
        loss = F.binary_cross_entropy_with_logits(logits, y[idx]) / ACCUM
        loss.backward()
        if (i + 1) % ACCUM == 0:
            optimizer.step()
            lr_sched.step()
            optimizer.zero_grad()
            updates += 1
            if updates % 16 == 0:
                print(f"update {updates} micro loss {loss.item() * ACCUM:.4f}")

with torch.no_grad():
    out = net(xt)
    test_loss = F.binary_cross_entropy_with_logits(out, yt).item()
    acc = ((out > 0).float() == yt).float().mean().item()
print(f"updates {updates} test loss {test_loss:.4f} acc {acc:.4f}")
