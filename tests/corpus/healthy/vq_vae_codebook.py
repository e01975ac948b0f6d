import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(1)


class VectorQuantizer(nn.Module):
    def __init__(self, codes=16, dim=4, beta=0.25):
        super().__init__()
        self.codebook = nn.Embedding(codes, dim)
        nn.init.uniform_(self.codebook.weight, -0.5, 0.5)
        self.beta = beta

    def forward(self, z):
        idx = torch.cdist(z, self.codebook.weight).argmin(dim=1)
        q = self.codebook(idx)
        loss = F.mse_loss(q, z.detach()) + self.beta * F.mse_loss(z, q.detach())
        return z + (q - z).detach(), loss, idx


enc = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))
dec = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 8))
vq = VectorQuantizer()
params = [p for m in (enc, dec, vq) for p in m.parameters()]
opt = torch.optim.Adam(params, lr=5e-3)
centres = torch.randn(10, 8)

for step in range(100):
    x = centres[torch.randint(0, 10, (64,))] + 0.1 * torch.randn(64, 8)
    q, vq_loss, idx = vq(enc(x))
    recon = F.mse_loss(dec(q), x)
    loss = recon + vq_loss
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 20 == 0:
        print(f"step {step:3d} recon {recon.item():.5f} vq {vq_loss.item():.5f} codes used {idx.unique().numel()}")
