"""Several functions of torch replaced at once, some that torch itself calls by their global names."""

import torch
import torch.nn.functional as F
from torch import nn

count = {}


def counting(owner, name):
    original = getattr(owner, name)

    def wrapper(*args, **kwargs):
        count[name] = count.get(name, 0) + 1
        return original(*args, **kwargs)

    setattr(owner, name, wrapper)
    return original


for owner, name in [
    (F, "softmax"),
    (F, "dropout"),
    (F, "scaled_dot_product_attention"),
    (F, "layer_norm"),
    (F, "cross_entropy"),
    (F, "multi_head_attention_forward"),
    (F, "embedding"),
    (torch, "stack"),
    (torch, "einsum"),
    (torch, "norm"),
    (torch.Tensor, "norm"),
    (torch.Tensor, "split"),
    (torch.Tensor, "__rsub__"),
    (nn.utils, "clip_grad_norm_"),
]:
    counting(owner, name)
torch.manual_seed(0)
embed, attention, norm, head = (
    nn.Embedding(11, 8),
    nn.MultiheadAttention(8, 2, dropout=0.1),
    nn.LayerNorm(8),
    nn.Linear(8, 11),
)
layers = nn.ModuleList([embed, attention, norm, head])
optimizer = torch.optim.SGD(layers.parameters(), lr=0.1)
for step in range(4):
    tokens = torch.randint(0, 11, (5, 3))
    h = F.dropout(embed(tokens), 0.1)
    h = norm(h + attention(h, h, h)[0])
    a, b = h.split(4, dim=-1)
    h = torch.stack([1 - a, torch.einsum("tbc->tbc", b)], -1).flatten(-2)
    loss = (
        F.cross_entropy(head(h).view(-1, 11), tokens.view(-1)) + 0.01 * torch.norm(h) + 0.01 * F.softmax(h, -1).norm()
    )
    optimizer.zero_grad()
    loss.backward()
    total = nn.utils.clip_grad_norm_(layers.parameters(), 1.0)
    optimizer.step()
    print(step, loss.item(), total.item(), dict(sorted(count.items())))
