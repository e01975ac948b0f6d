import torch
import torch.nn as nn


class Mlp(nn.Module):
    def __init__(self, dim, ratio=1.5):
        super().__init__()
        hidden = dim * ratio
        self.norm = nn.LayerNorm(dim)
        self.up = nn.Linear(dim, hidden)
        self.down = nn.Linear(hidden, dim)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


torch.manual_seed(0)
model = nn.Sequential(Mlp(8), Mlp(8), nn.Linear(8, 1))
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(20):
    x = torch.randn(32, 8)
    loss = (model(x) - x[:, :1].abs()).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
