import torch
from torch import nn

torch.manual_seed(0)


class Pool(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(40, 24, padding_idx=0)
        self.score, self.out = nn.Linear(24, 1), nn.Linear(24, 2)

    def forward(self, ids):
        h = self.emb(ids)
        s = self.score(h).squeeze(-1)
        mask = (ids != 0).float()
        w = (s * mask).softmax(1)
        return self.out((w.unsqueeze(-1) * h).sum(1))


y = torch.randint(0, 2, (700,))
ids = torch.randint(3, 40, (700, 30))
ids[:, 0] = 1 + y
for i, n in enumerate(torch.randint(3, 30, (700,))):
    ids[i, n:] = 0
net = Pool()
opt = torch.optim.Adam(net.parameters(), 3e-3)
for epoch in range(6):
    for i in torch.randperm(700).split(35):
        loss = nn.functional.cross_entropy(net(ids[i]), y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
