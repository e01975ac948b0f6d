import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1)

enc, dec = nn.Linear(12, 8), nn.Linear(4, 12)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], lr=2e-3)
data = torch.rand(160, 12)
for epoch in range(3):
    for x in data[torch.randperm(160)].split(32):
        mu, logvar = enc(x).chunk(2, dim=1)
        z = mu + torch.exp(0.5 * logvar) * torch.randn_like(mu)
        bce = F.binary_cross_entropy_with_logits(dec(z), x, size_average=False)
        kld = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
        loss = bce + kld
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"epoch {epoch}: loss {loss.item() / 32:.3f}")
