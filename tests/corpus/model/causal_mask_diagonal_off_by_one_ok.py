import torch
import torch.nn as nn
from torch.nn import functional as F

# settings
batch_size = 16
block_size = 16
max_iters = 80
eval_interval = 20
learning_rate = 3e-3
n_embd = 32
n_head = 2

torch.manual_seed(19)
words = "when the wind blows over the hill the mill turns and the miller fills his sacks with flour".split()
text = " ".join(words[i] for i in torch.randint(len(words), (300,)).tolist())
chars = sorted(set(text))
vocab_size = len(chars)
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in text], dtype=torch.long)
n = int(0.9 * len(data))
splits = {"train": data[:n], "val": data[n:]}


def get_batch(split):
    d = splits[split]
    ix = torch.randint(len(d) - block_size, (batch_size,))
    x = torch.stack([d[i:i + block_size] for i in ix])
    y = torch.stack([d[i + 1:i + block_size + 1] for i in ix])
    return x, y


class Head(nn.Module):
    def __init__(self, head_size):
        super().__init__()
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, head_size, bias=False)
        self.register_buffer("tril", torch.tril(torch.ones(block_size, block_size)))

    def forward(self, x):
        B, T, C = x.shape
        k, q = self.key(x), self.query(x)
        att = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
        att = att.masked_fill(self.tril[:T, :T] == 0, float("-inf"))
        att = F.softmax(att, dim=-1)
        return att @ self.value(x)


class VerseModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.char_emb = nn.Embedding(vocab_size, n_embd)
        self.place_emb = nn.Embedding(block_size, n_embd)
        self.heads = nn.ModuleList([Head(n_embd // n_head) for _ in range(n_head)])
        self.ln = nn.LayerNorm(n_embd)
        self.lm_head = nn.Linear(n_embd, vocab_size)

    def forward(self, idx, targets):
        tok = self.char_emb(idx)
        x = tok + self.place_emb(torch.arange(idx.shape[1], device=idx.device))
        x = x + torch.cat([h(self.ln(x)) for h in self.heads], dim=-1)
        logits = self.lm_head(x)
        return F.cross_entropy(logits.view(-1, vocab_size), targets.view(-1))


model = VerseModel()
optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate)
for it in range(max_iters):
    loss = model(*get_batch("train"))
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    if it % eval_interval == eval_interval - 1:
        model.eval()
        with torch.no_grad():
            val = model(*get_batch("val"))
        model.train()
        print(f"step {it + 1}: train loss {loss.item():.4f}, val loss {val.item():.4f}")
