import math
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(25)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
V, T, D = 12, 10, 32


class CausalAttention(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.q = nn.Linear(d, d, bias=False)
        self.k = nn.Linear(d, d, bias=False)
        self.v = nn.Linear(d, d, bias=False)

    def forward(self, x):
        t = x.size(1)
        att = self.q(x) @ self.k(x).transpose(1, 2) / math.sqrt(x.size(2))
        mask = torch.tril(torch.ones(t, t, dtype=torch.bool))
        att = att.masked_fill(~mask, float("-inf"))
        return F.softmax(att, dim=-1) @ self.v(x)


class CopyModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(V, D)
        self.pos = nn.Parameter(0.1 * torch.randn(T, D))
        self.att = CausalAttention(D)
        self.ff = nn.Sequential(nn.Linear(D, 64), nn.ReLU(), nn.Linear(64, V))

    def forward(self, ids):
        x = self.emb(ids) + self.pos[:ids.size(1)]
        return self.ff(x + self.att(x))


def sequences(n):
    """Arithmetic walks modulo V with a random stride."""
    start, stride = torch.randint(0, V, (n, 1)), torch.randint(1, 4, (n, 1))
    walk = (start + stride * torch.arange(T + 1)) % V
    return walk[:, :-1].to(device), walk[:, 1:].to(device)


model = CopyModel().to(device)
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
recent = []
for step in range(1, 81):
    ids, nxt = sequences(32)
    logits = model(ids)
    loss = F.cross_entropy(logits.reshape(-1, V), nxt.reshape(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    recent.append(loss.item())
    if step % 20 == 0:
        print(f"step {step} loss {sum(recent[-20:]) / 20:.6f}")
