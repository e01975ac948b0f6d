"""Two optimizers, detach, requires_grad toggles, retain_graph: a small GAN."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
generator = nn.Sequential(nn.Linear(2, 8), nn.LeakyReLU(0.2), nn.Linear(8, 3))
critic = nn.Sequential(nn.Linear(3, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1))
opt_g = torch.optim.Adam(generator.parameters(), lr=1e-2, betas=(0.5, 0.9))
opt_c = torch.optim.RMSprop(critic.parameters(), lr=1e-2)
loader = DataLoader(TensorDataset(torch.randn(12, 3)), batch_size=4, shuffle=True)
for epoch in range(2):
    for (real,) in loader:
        fake = generator(torch.randn(4, 2))
        opt_c.zero_grad()
        loss_c = F.softplus(critic(fake.detach())).mean() + F.softplus(-critic(real)).mean()
        loss_c.backward()
        opt_c.step()
        for p in critic.parameters():
            p.requires_grad_(False)
        opt_g.zero_grad()
        loss_g = F.softplus(-critic(fake)).mean()
        loss_g.backward()
        opt_g.step()
        for p in critic.parameters():
            p.requires_grad_(True)
        print(epoch, loss_c.item(), loss_g.item())
