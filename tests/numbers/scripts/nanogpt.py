"""A small language model: estimate_loss over both splits, batches drawn by hand."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
data = torch.randint(0, 11, (600,))
splits = {"train": data[:500], "val": data[500:]}


def get_batch(split):
    text = splits[split]
    ix = torch.randint(len(text) - 9, (4,)).tolist()
    return torch.stack([text[i : i + 8] for i in ix]), torch.stack([text[i + 1 : i + 9] for i in ix])


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte, self.head = nn.Embedding(11, 16), nn.Linear(16, 11)

    def forward(self, idx, targets=None):
        logits = self.head(self.wte(idx))
        return logits, F.cross_entropy(logits.view(-1, 11), targets.view(-1))


model = GPT()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)


@torch.no_grad()
def estimate_loss():
    out = {}
    model.eval()
    for split in ("train", "val"):
        losses = torch.zeros(6)
        for k in range(6):
            _, loss = model(*get_batch(split))
            losses[k] = loss.item()
        out[split] = losses.mean()
    model.train()
    return out


for iter_num in range(31):
    if iter_num % 10 == 0:
        losses = estimate_loss()
        print(f"step {iter_num}: train loss {losses['train']:.4f}, val loss {losses['val']:.4f}")
    _, loss = model(*get_batch("train"))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    if iter_num % 5 == 0:
        print(f"iter {iter_num}: loss {loss.item():.4f}, time {1.25 + iter_num:.2f}ms, mfu {-100.0:.2f}%")
