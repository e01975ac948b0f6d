import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(7)
V, T, D, H = 12, 16, 32, 4


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(D), nn.LayerNorm(D)
        self.qkv, self.proj = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.mlp = nn.Sequential(nn.Linear(D, 2 * D), nn.GELU(), nn.Linear(2 * D, D))
        self.register_buffer("mask", torch.ones(T, T, dtype=torch.bool).tril())

    def forward(self, x):
        B, L, _ = x.shape
        q, k, v = self.qkv(self.ln1(x)).view(B, L, 3, H, D // H).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=self.mask[:L, :L])
        x = x + self.proj(y.transpose(1, 2).reshape(B, L, D))
        return x + self.mlp(self.ln2(x))


class LM(nn.Module):
    def __init__(self, depth=2):
        super().__init__()
        self.tok, self.pos = nn.Embedding(V, D), nn.Embedding(T, D)
        self.blocks = nn.Sequential(*[Block() for _ in range(depth)])
        self.ln, self.head = nn.LayerNorm(D), nn.Linear(D, V, bias=False)

    def forward(self, ids):
        x = self.tok(ids) + self.pos(torch.arange(ids.size(1), device=ids.device))
        return self.head(self.ln(self.blocks(x)))


def batch(n):
    """x[t+1] = x[t] + x[t-1] (mod V), with two random first tokens."""
    seq = torch.randint(0, V, (n, 2))
    for _ in range(T - 1):
        seq = torch.cat([seq, (seq[:, -1:] + seq[:, -2:-1]) % V], dim=1)
    return seq[:, :-1], seq[:, 1:]


lm = LM()
opt = torch.optim.AdamW(lm.parameters(), lr=4e-3)
for it in range(70):
    x, y = batch(32)
    loss = F.cross_entropy(lm(x).flatten(0, 1), y.flatten())
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    if it % 10 == 9:
        print(f"{it + 1:3d} {loss.item():.5f}")
