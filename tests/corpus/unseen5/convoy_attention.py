"""Vehicles in a convoy attend only to vehicles in radio range."""
import torch
import torch.nn as nn


class RadioBlock(nn.Module):
    def __init__(self, dim=32, heads=4):
        super().__init__()
        self.heads = heads
        self.attn = nn.MultiheadAttention(dim, heads, batch_first=True)
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.ff = nn.Sequential(nn.Linear(dim, 64), nn.GELU(), nn.Linear(64, dim))

    def forward(self, x, blocked):
        mask = blocked
        h, _ = self.attn(x, x, x, attn_mask=mask, need_weights=False)
        x = self.norm1(x + h)
        return self.norm2(x + self.ff(x))


class ConvoyNet(nn.Module):
    def __init__(self, layers=2):
        super().__init__()
        self.inp = nn.Linear(3, 32)
        self.blocks = nn.ModuleList(RadioBlock() for _ in range(layers))
        self.out = nn.Linear(32, 1)

    def forward(self, feats, pos):
        blocked = torch.cdist(pos, pos) > 0.5
        x = self.inp(feats)
        for block in self.blocks:
            x = block(x, blocked)
        return self.out(x).squeeze(-1)


def convoys(n, size=10):
    pos = torch.rand(n, size, 2)
    load = torch.rand(n, size, 1)
    near = (torch.cdist(pos, pos) <= 0.5).float()
    target = (near @ load).squeeze(-1) / near.sum(-1)
    return torch.cat([pos, load], -1), pos, target


def main():
    torch.manual_seed(13)
    net = ConvoyNet()
    opt = torch.optim.AdamW(net.parameters(), lr=3e-3)
    for step in range(60):
        feats, pos, target = convoys(32)
        loss = nn.functional.mse_loss(net(feats, pos), target)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        if step % 20 == 0:
            print(f"step {step} mse {loss.item():.4f}")


if __name__ == "__main__":
    main()
