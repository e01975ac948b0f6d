import torch
import torch.nn as nn

torch.manual_seed(0)


class ReZeroBlock(nn.Module):
    def __init__(self, d, heads=4):
        super().__init__()
        self.attn = nn.MultiheadAttention(d, heads, batch_first=True)
        self.ff = nn.Sequential(nn.Linear(d, 2 * d), nn.ReLU(), nn.Linear(2 * d, d))
        self.alpha = nn.Parameter(torch.zeros(()))

    def forward(self, x, mask):
        x = x + self.alpha * self.attn(x, x, x, attn_mask=mask, need_weights=False)[0]
        return x + self.alpha * self.ff(x)


class LM(nn.Module):
    def __init__(self, vocab=12, length=10, d=32, depth=3):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, d), nn.Embedding(length, d)
        self.blocks = nn.ModuleList(ReZeroBlock(d) for _ in range(depth))
        self.head = nn.Linear(d, vocab)
        mask = torch.full((length, length), float("-inf")).triu(1)
        self.register_buffer("mask", mask)

    def forward(self, ids):
        x = self.tok(ids) + self.pos.weight[: ids.size(1)]
        for b in self.blocks:
            x = b(x, self.mask)
        return self.head(x)


model = LM()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(60):
    start = torch.randint(0, 12, (48, 1))
    seq = (start + torch.randint(1, 3, (48, 1)) * torch.arange(11)) % 12
    loss = nn.functional.cross_entropy(model(seq[:, :-1]).transpose(1, 2), seq[:, 1:])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 12 == 0:
        print(f"step {step} loss {loss.item():.5f} alphas {[round(b.alpha.item(), 4) for b in model.blocks]}")
