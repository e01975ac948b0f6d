import torch
from torch import nn

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"


class Attn(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.qkv, self.out = nn.Linear(d, 3 * d), nn.Linear(d, d)

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).chunk(3, dim=-1)
        return x + self.out(nn.functional.scaled_dot_product_attention(q, k, v))


class Counter(nn.Module):
    """How many tokens of the sequence equal the first one?"""

    def __init__(self, vocab=6, length=8, d=32):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, d), nn.Parameter(torch.randn(length, d) * 0.1)
        self.blocks = nn.Sequential(Attn(d), Attn(d))
        self.head = nn.Sequential(nn.Linear(d, 2 * d), nn.ReLU(), nn.Linear(2 * d, length))

    def forward(self, ids):
        return self.head(self.blocks(self.tok(ids) + self.pos)[:, 0])


model = Counter().to(device)
opt = torch.optim.AdamW(model.parameters(), lr=5e-3)
for step in range(60):
    ids = torch.randint(0, 6, (64, 8), device=device)
    target = (ids == ids[:, :1]).sum(1) - 1
    with torch.autocast(device_type=device, dtype=torch.bfloat16):
        loss = nn.functional.cross_entropy(model(ids), target)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 12 == 0:
        print(f"step {step} loss {loss.item():.5f}")
