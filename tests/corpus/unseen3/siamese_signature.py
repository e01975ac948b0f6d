import torch
import torch.nn as nn

torch.manual_seed(18)
WRITERS, DIM = 20, 16
style = torch.randn(WRITERS, DIM)
signatures = style[:, None, :] + 0.4 * torch.randn(WRITERS, 6, DIM)


class SiameseNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.branch = nn.Sequential(nn.Linear(DIM, 48), nn.ReLU(), nn.Linear(48, 8))

    def forward(self, a, b):
        za, zb = self.branch(a), self.branch(b)
        return torch.sqrt(((za - zb) ** 2).sum(1))


def contrastive_loss(dist, same, margin=2.0):
    return (same * dist.pow(2) + (1 - same) * torch.relu(margin - dist).pow(2)).mean()


def draw_pairs(n):
    wa, ia, ib = torch.randint(0, WRITERS, (n,)), torch.randint(0, 6, (n,)), torch.randint(0, 6, (n,))
    same = (torch.rand(n) < 0.5).float()
    wb = torch.where(same.bool(), wa, (wa + torch.randint(1, WRITERS, (n,))) % WRITERS)
    return signatures[wa, ia], signatures[wb, ib], same


net = SiameseNet()
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
for step in range(200):
    a, b, same = draw_pairs(64)
    loss = contrastive_loss(net(a, b), same)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 40 == 0:
        print(f"step {step} loss {loss.item():.4f}")

with torch.no_grad():
    a, b, same = draw_pairs(600)
    acc = ((net(a, b) < 1.0) == same.bool()).float().mean()
print(f"verification accuracy {acc:.3f}")
