import torch
import torch.nn as nn
import torch.nn.functional as F


class SelfAttention(nn.Module):
    def __init__(self, dim=32, heads=4):
        super().__init__()
        self.heads, self.hd = heads, dim // heads
        self.q = nn.Linear(dim, dim)
        self.k = nn.Linear(dim, dim)
        self.v = nn.Linear(dim, dim)
        self.o = nn.Linear(dim, dim)

    def split(self, x):
        b, t, _ = x.shape
        return x.view(b, t, self.heads, self.hd).transpose(1, 2)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
        att = F.softmax(q @ k.transpose(-2, -1) / self.hd ** 0.5, dim=-1)
        y = (att @ v).transpose(1, 2).reshape(b, t, c)
        return self.o(y)


class MaxFinder(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(1, 32)
        self.att = SelfAttention()
        self.ln = nn.LayerNorm(32)
        self.out = nn.Linear(32, 1)

    def forward(self, x):
        h = self.inp(x.unsqueeze(-1))
        h = self.ln(h + self.att(h))
        return self.out(h).squeeze(-1)


torch.manual_seed(7)
model = MaxFinder()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(200):
    x = torch.randn(64, 10)
    logits = model(x)
    loss = F.cross_entropy(logits, x.argmax(1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 50 == 0:
        print(f"step {step:3d} loss {loss.item():.4f}")
