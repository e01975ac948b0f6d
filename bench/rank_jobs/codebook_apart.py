# expect: dist.param-divergence, dist.local-batch-norm
# ranks: 2

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Quantizer(nn.Module):
    def __init__(self, codes, width, decay=0.95):
        super().__init__()
        self.decay = decay
        self.register_buffer("codebook", torch.randn(codes, width))
        self.register_buffer("counts", torch.ones(codes))

    def forward(self, z):
        index = torch.cdist(z, self.codebook).argmin(dim=1)
        if self.training:
            with torch.no_grad():
                hot = nn.functional.one_hot(index, len(self.codebook)).to(z.dtype)
                self.counts.mul_(self.decay).add_(hot.sum(0), alpha=1 - self.decay)
                means = hot.T @ z / hot.sum(0).clamp(min=1).unsqueeze(1)
                seen = hot.sum(0) > 0
                self.codebook[seen] = self.decay * self.codebook[seen] + (1 - self.decay) * means[seen]
        codes = self.codebook[index]
        return z + (codes - z).detach(), nn.functional.mse_loss(z, codes.detach())


class AutoEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.quantizer, self.decoder = nn.Linear(10, 4), Quantizer(16, 4), nn.Linear(4, 10)

    def forward(self, x):
        code, commitment = self.quantizer(self.encoder(x))
        return self.decoder(code), commitment


torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = DDP(AutoEncoder(), broadcast_buffers=False)  # cause
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
source = torch.Generator().manual_seed(40 + rank)
mixing = torch.randn(3, 10)
for step in range(300):
    x = torch.randn(32, 3, generator=source) @ mixing
    out, commitment = model(x)
    loss = nn.functional.mse_loss(out, x) + 0.25 * commitment
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
if rank == 0:
    print("loss", loss.item())
dist.destroy_process_group()
