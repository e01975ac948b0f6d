import torch
import torch.nn as nn
import torch.nn.functional as F


class Generator(nn.Module):
    def __init__(self, z=6, classes=3):
        super().__init__()
        self.label = nn.Embedding(classes, 4)
        self.net = nn.Sequential(nn.Linear(z + 4, 32), nn.ReLU(), nn.Linear(32, 2))

    def forward(self, z, c):
        return self.net(torch.cat([z, self.label(c)], 1))


class Critic(nn.Module):
    def __init__(self, classes=3):
        super().__init__()
        self.label = nn.Embedding(classes, 4)
        self.net = nn.Sequential(nn.Linear(2 + 4, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))

    def forward(self, x, c):
        return self.net(torch.cat([x, self.label(c)], 1))


def sample_real(n, device):
    c = torch.randint(0, 3, (n,), device=device)
    angle = c * 2.0944
    mean = torch.stack([angle.cos(), angle.sin()], 1)
    return mean + 0.1 * torch.randn(n, 2, device=device), c


def main(steps=60, batch=48):
    torch.manual_seed(17)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    G, D = Generator().to(device), Critic().to(device)
    opt_g = torch.optim.Adam(G.parameters(), 1e-3, (0.5, 0.9))
    opt_d = torch.optim.Adam(D.parameters(), 1e-3, (0.5, 0.9))
    for step in range(steps):
        real, c = sample_real(batch, device)
        fake = G(torch.randn(batch, 6, device=device), c)

        # hinge loss for the critic
        opt_d.zero_grad()
        d_loss = F.relu(1 - D(real, c)).mean() + F.relu(1 + D(fake.detach(), c)).mean()
        d_loss.backward()
        opt_d.step()

        opt_g.zero_grad()
        g_loss = -D(fake, c).mean()
        g_loss.backward()
        opt_g.step()
        if step % 15 == 0:
            print("step %3d  d %.5f  g %.5f" % (step, d_loss.item(), g_loss.item()))


if __name__ == "__main__":
    main()
