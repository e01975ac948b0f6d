import torch
from torch import nn
import torch.nn.functional as F


class SelfAttention(nn.Module):
    def __init__(self, dim, heads=4, dropout=0.1):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        out = F.scaled_dot_product_attention(q, k, v, dropout_p=self.dropout if self.training else 0.0)
        return self.proj(out.transpose(1, 2).reshape(b, n, d))


class SetClassifier(nn.Module):
    """Does the set of points lie on a circle or in a square?"""

    def __init__(self, dim=32):
        super().__init__()
        self.embed = nn.Linear(2, dim)
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = SelfAttention(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))
        self.head = nn.Linear(dim, 1)

    def forward(self, pts):
        x = self.embed(pts)
        x = x + self.attn(self.norm1(x))
        x = x + self.mlp(self.norm2(x))
        return self.head(x.mean(1)).squeeze(1)


def sets(n, k=10):
    y = torch.randint(0, 2, (n,)).float()
    angle = torch.rand(n, k) * 6.2832
    circle = torch.stack([angle.cos(), angle.sin()], -1)
    square = torch.rand(n, k, 2) * 2 - 1
    return torch.where(y[:, None, None] > 0, circle, square) + 0.05 * torch.randn(n, k, 2), y


torch.manual_seed(0)
model = SetClassifier()
opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
x_val, y_val = sets(128)
for epoch in range(5):
    model.train()
    for _ in range(12):
        x, y = sets(48)
        loss = F.binary_cross_entropy_with_logits(model(x), y)
        opt.zero_grad(); loss.backward(); opt.step()
    model.eval()
    with torch.no_grad():
        val = F.binary_cross_entropy_with_logits(model(x_val), y_val)
    print(f"epoch {epoch}: train {loss.item():.5f} val {val.item():.5f}")
