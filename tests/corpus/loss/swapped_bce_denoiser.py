import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(8)
BATCH = 64
clean = torch.tensor(load_digits().images[:512] / 16.0, dtype=torch.float32).unsqueeze(1)
clean = (clean > 0.4).float()


class Denoiser(nn.Module):
    def __init__(self, ch=12):
        super().__init__()
        self.down = nn.Conv2d(1, ch, 3, padding=1)
        self.mid = nn.Conv2d(ch, ch, 3, padding=1)
        self.up = nn.Conv2d(ch, 1, 3, padding=1)

    def forward(self, x):
        h = F.relu(self.down(x))
        h = h + F.relu(self.mid(h))
        return torch.sigmoid(self.up(h))


def corrupt(x):
    keep = (torch.rand_like(x) > 0.25).float()
    return x * keep


net = Denoiser()
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
step = 0
for epoch in range(6):
    for batch in clean[torch.randperm(len(clean))].split(BATCH):
        recon = net(corrupt(batch))
        loss = F.binary_cross_entropy(batch, recon)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 8 == 0:
            hit = ((recon > 0.5) == (batch > 0.5)).float().mean().item()
            print(f"step {step:3d} bce {loss.item():.5f} pixels right {hit:.4f}")
        step += 1
