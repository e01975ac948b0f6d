import math
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
NOTES, CTX, D = 24, 20, 48


def compose(n):
    start = torch.randint(0, NOTES, (n, 1))
    steps = torch.randint(1, 5, (n, CTX))
    return torch.cat([start, (start + steps.cumsum(1)) % NOTES], dim=1)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(D, 3 * D)
        self.out = nn.Linear(D, D)
        self.ff = nn.Sequential(nn.Linear(D, 2 * D), nn.GELU(), nn.Linear(2 * D, D))
        self.n1, self.n2 = nn.LayerNorm(D), nn.LayerNorm(D)

    def forward(self, x):
        q, k, v = self.qkv(self.n1(x)).chunk(3, dim=-1)
        scores = q @ k.transpose(1, 2) / math.sqrt(D)
        att = F.softmax(scores, dim=-1)
        x = x + self.out(att @ v)
        return x + self.ff(self.n2(x))


class MelodyLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(NOTES, D)
        self.pos = nn.Embedding(CTX, D)
        self.blocks = nn.Sequential(Block(), Block())
        self.head = nn.Linear(D, NOTES)

    def forward(self, ids):
        x = self.tok(ids) + self.pos(torch.arange(ids.size(1)))
        return self.head(self.blocks(x))


model = MelodyLM()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for it in range(200):
    seq = compose(32)
    inputs, targets = seq[:, :-1], seq[:, 1:]
    logits = model(inputs)
    loss = F.cross_entropy(logits.reshape(-1, NOTES), targets.reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if it % 50 == 0:
        print(f"iter {it} loss {loss.item():.4f} ppl {loss.exp().item():.2f}")

model.eval()
with torch.no_grad():
    song = torch.randint(0, NOTES, (64, 1))
    for _ in range(CTX - 1):
        probs = F.softmax(model(song)[:, -1], dim=-1)
        song = torch.cat([song, torch.multinomial(probs, 1)], dim=1)
    jumps = (song[:, 1:] - song[:, :-1]) % NOTES
    valid = ((jumps >= 1) & (jumps <= 4)).float().mean()
print(f"melodic steps within range: {valid:.3f}")
