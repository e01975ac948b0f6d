"""nano-sized GPT on an arithmetic 'sonnet' where each token depends on the two before it."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

V, T, D = 11, 16, 32


class Block(nn.Module):
    def __init__(self, heads=2):
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(D), nn.LayerNorm(D)
        self.qkv = nn.Linear(D, 3 * D)
        self.proj = nn.Linear(D, D)
        self.mlp = nn.Sequential(nn.Linear(D, 4 * D), nn.GELU(), nn.Linear(4 * D, D))
        self.register_buffer("mask", torch.tril(torch.ones(T, T)).bool())

    def forward(self, x):
        B, L, _ = x.shape
        q, k, v = self.qkv(self.ln1(x)).chunk(3, dim=-1)
        q, k, v = (t.view(B, L, self.heads, -1).transpose(1, 2) for t in (q, k, v))
        att = q @ k.transpose(-2, -1) / math.sqrt(D // self.heads)
        att = att.masked_fill(~self.mask[:L, :L], float("-inf")).softmax(-1)
        x = x + self.proj((att @ v).transpose(1, 2).reshape(B, L, D))
        return x + self.mlp(self.ln2(x))


class SonnetGPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok, self.pos = nn.Embedding(V, D), nn.Embedding(T, D)
        self.blocks = nn.Sequential(Block(), Block())
        self.ln, self.head = nn.LayerNorm(D), nn.Linear(D, V, bias=False)

    def forward(self, idx):
        x = self.tok(idx) + self.pos(torch.arange(idx.size(1)))
        return self.head(self.ln(self.blocks(x)))


def verses(n, length):
    seq = [torch.randint(0, V, (n,)), torch.randint(0, V, (n,))]
    while len(seq) < length:
        seq.append((seq[-1] + seq[-2] // 3 + 2) % V)
    return torch.stack(seq, 1)


torch.manual_seed(1337)
model = SonnetGPT()
opt = torch.optim.AdamW(model.parameters(), lr=4e-3)
for it in range(220):
    batch = verses(32, T + 1)
    logits = model(batch[:, :-1])
    loss = F.cross_entropy(logits.reshape(-1, V), batch[:, 1:].reshape(-1))
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    if it % 50 == 0:
        print(f"iter {it} loss {loss.item():.4f}")
truth = verses(200, 12)
idx = truth[:, :4]
with torch.no_grad():
    while idx.size(1) < 12:
        idx = torch.cat([idx, model(idx)[:, -1].argmax(-1, keepdim=True)], 1)
print("generated token accuracy", (idx[:, 4:] == truth[:, 4:]).float().mean().item())
