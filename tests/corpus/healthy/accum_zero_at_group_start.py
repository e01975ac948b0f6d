import torch
from torch import nn

ACCUM = 3


def tokens(n, gen):
    length = int(torch.randint(4, 12, (1,), generator=gen))
    ids = torch.randint(1, 15, (n, length), generator=gen)
    return ids, (ids * 2 + 1) % 15


class Mapper(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(15, 24)
        self.ff = nn.Sequential(nn.Linear(24, 48), nn.GELU(), nn.Linear(48, 15))

    def forward(self, ids):
        return self.ff(self.emb(ids))


torch.manual_seed(1)
gen = torch.Generator().manual_seed(1)
net = Mapper()
opt = torch.optim.AdamW(net.parameters(), lr=5e-3)
for update in range(40):
    group = [tokens(8, gen) for _ in range(ACCUM)]
    n_tokens = sum(t.numel() for _, t in group)
    opt.zero_grad(set_to_none=True)
    value = 0.0
    for ids, target in group:
        loss = nn.functional.cross_entropy(net(ids).flatten(0, 1), target.flatten(), reduction="sum") / n_tokens
        loss.backward()
        value += loss.item()
    opt.step()
    if update % 8 == 0:
        print(f"update {update} loss {value:.5f}")
