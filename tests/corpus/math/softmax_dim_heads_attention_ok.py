import math

import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads):
        super().__init__()
        assert d_model % n_heads == 0
        self.h, self.d_k = n_heads, d_model // n_heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def split(self, x):
        b, t, _ = x.shape
        return x.view(b, t, self.h, self.d_k).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.split(self.w_q(x)), self.split(self.w_k(x)), self.split(self.w_v(x))
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d_k)
        weights = torch.softmax(scores, dim=-1)
        out = (weights @ v).transpose(1, 2).flatten(2)
        return self.w_o(out)


class RowTransformer(nn.Module):
    """An 8x8 digit is a sequence of eight rows."""

    def __init__(self, d=32, heads=4, classes=10):
        super().__init__()
        self.inp = nn.Linear(8, d)
        self.pos = nn.Parameter(torch.randn(8, d) * 0.1)
        self.norm1, self.norm2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.attn = MultiHeadAttention(d, heads)
        self.ff = nn.Sequential(nn.Linear(d, 64), nn.GELU(), nn.Linear(64, d))
        self.head = nn.Linear(d, classes)

    def forward(self, rows):
        x = self.inp(rows) + self.pos
        x = x + self.attn(self.norm1(x))
        x = x + self.ff(self.norm2(x))
        return self.head(x.mean(dim=1))


torch.manual_seed(0)
digits = load_digits()
x = torch.tensor(digits.images[:480] / 16.0, dtype=torch.float32)
y = torch.tensor(digits.target[:480])
train = DataLoader(TensorDataset(x[:400], y[:400]), batch_size=40, shuffle=True)
net = RowTransformer()
opt = torch.optim.AdamW(net.parameters(), lr=3e-3)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(6):
    net.train()
    running = 0.0
    for xb, yb in train:
        loss = loss_fn(net(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        running += loss.item()
    net.eval()
    with torch.no_grad():
        acc = (net(x[400:]).argmax(1) == y[400:]).float().mean().item()
    print(f"epoch {epoch} loss {running / len(train):.5f} val acc {acc:.4f}")
