import torch
from torch import nn, optim

torch.manual_seed(99)

class GAN:
    def __init__(self, z=4):
        self.z = z
        self.g = nn.Sequential(nn.Linear(z, 24), nn.ReLU(), nn.Linear(24, 1))
        self.d = nn.Sequential(nn.Linear(1, 24), nn.LeakyReLU(0.2), nn.Linear(24, 24), nn.LeakyReLU(0.2), nn.Linear(24, 1))
        self.opt_g = optim.Adam(self.g.parameters(), lr=1e-3, betas=(0.5, 0.999))
        self.opt_d = optim.Adam(self.d.parameters(), lr=1e-3, betas=(0.5, 0.999))
        self.bce = nn.BCEWithLogitsLoss()

    def train_step(self, real):
        n = len(real)
        fake = self.g(torch.randn(n, self.z))
        real_score = self.d(real)
        fake_score = self.d(fake.detach())
        d_loss = self.bce(real_score, torch.ones(n, 1)) + self.bce(fake_score, torch.zeros(n, 1))

        self.opt_d.zero_grad()
        d_loss.backward()
        self.opt_d.step()

        g_loss = self.bce(self.d(fake), torch.ones(n, 1))

        self.opt_g.zero_grad()
        g_loss.backward()
        self.opt_g.step()
        return d_loss.item(), g_loss.item()


gan = GAN()
hist_d, hist_g = [], []
for it in range(1, 81):
    real = 2.0 + 0.5 * torch.randn(64, 1)
    d, g = gan.train_step(real)
    hist_d.append(d); hist_g.append(g)
    if it % 20 == 0:
        print(it, "d_loss=%.5f" % (sum(hist_d[-20:]) / 20), "g_loss=%.5f" % (sum(hist_g[-20:]) / 20))
