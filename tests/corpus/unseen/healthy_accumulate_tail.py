import math
from contextlib import nullcontext

import torch
import torch.nn as nn
from torch.nn import functional as F

torch.manual_seed(1337)
batch_size, block_size, grad_accum, max_iters, warmup_iters, learning_rate, min_lr = 8, 16, 3, 120, 10, 4e-3, 4e-4
text = "".join(f"{i}+{j}={i + j};" for i in range(10) for j in range(10)) * 2
chars = sorted(set(text))
ids = torch.tensor([chars.index(c) for c in text])
train_data, val_data = ids[:-200], ids[-200:]
ctx = torch.autocast("cpu", dtype=torch.bfloat16) if hasattr(torch, "autocast") else nullcontext()


def get_batch(split):
    data = train_data if split == "train" else val_data
    ix = torch.randint(len(data) - block_size, (batch_size,))
    return torch.stack([data[i:i + block_size] for i in ix]), torch.stack([data[i + 1:i + 1 + block_size] for i in ix])


class CausalSelfAttention(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.c_attn, self.c_proj, self.heads = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d, bias=False), heads

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = [t.view(B, T, self.heads, C // self.heads).transpose(1, 2) for t in self.c_attn(x).split(C, dim=2)]
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(y.transpose(1, 2).contiguous().view(B, T, C))


class GPT(nn.Module):
    def __init__(self, vocab, d=48):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocab, d), nn.Embedding(block_size, d)
        self.ln1, self.attn, self.ln2 = nn.LayerNorm(d), CausalSelfAttention(d, 4), nn.LayerNorm(d)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))
        self.lm_head = nn.Linear(d, vocab, bias=False)
        self.wte.weight = self.lm_head.weight
        self.ln_f = nn.LayerNorm(d)
        nn.init.normal_(self.wte.weight, std=0.1)
        nn.init.normal_(self.wpe.weight, std=0.1)

    def forward(self, idx, targets=None):
        x = self.wte(idx) + self.wpe(torch.arange(idx.size(1)))
        x = x + self.attn(self.ln1(x))
        x = x + self.mlp(self.ln2(x))
        logits = self.lm_head(self.ln_f(x))
        return logits, F.cross_entropy(logits.view(-1, logits.size(-1)).float(), targets.view(-1), ignore_index=-1)


def get_lr(it):
    if it < warmup_iters:
        return learning_rate * (it + 1) / warmup_iters
    ratio = (it - warmup_iters) / (max_iters - warmup_iters)
    return min_lr + 0.5 * (1.0 + math.cos(math.pi * ratio)) * (learning_rate - min_lr)


model = GPT(len(chars))
optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, betas=(0.9, 0.95), weight_decay=0.1)
X, Y = get_batch("train")
for it in range(max_iters):
    for group in optimizer.param_groups:
        group["lr"] = get_lr(it)
    if it % 40 == 0 or it == max_iters - 1:
        model.eval()
        with torch.no_grad():
            val = sum(model(*get_batch("val"))[1].item() for _ in range(4)) / 4
        model.train()
        print(f"step {it}: val loss {val:.4f}")
    for micro in range(grad_accum):
        with ctx:
            _, loss = model(X, Y)
            loss = loss / grad_accum
        X, Y = get_batch("train")
        loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
print("train loss", loss.item() * grad_accum)
