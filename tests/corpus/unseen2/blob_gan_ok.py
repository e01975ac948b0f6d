import torch
import torch.nn as nn


class Generator(nn.Module):
    def __init__(self, z=4):
        super().__init__()
        self.z = z
        self.net = nn.Sequential(nn.Linear(z, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 2))

    def forward(self, n):
        return self.net(torch.randn(n, self.z))


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 48), nn.LeakyReLU(0.2), nn.Linear(48, 48), nn.LeakyReLU(0.2),
                                 nn.Linear(48, 1))

    def forward(self, x):
        return self.net(x).squeeze(1)


def real_batch(n):
    return torch.tensor([3.0, -2.0]) + torch.randn(n, 2) @ torch.tensor([[0.6, 0.3], [0.0, 0.4]])


def train(steps=500, bs=96):
    torch.manual_seed(13)
    G, D = Generator(), Discriminator()
    opt_g = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.99))
    opt_d = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.5, 0.99))
    criterion = nn.BCEWithLogitsLoss()
    ones, zeros = torch.ones(bs), torch.zeros(bs)
    for it in range(steps):
        opt_d.zero_grad()
        fake = G(bs)
        loss_d = criterion(D(real_batch(bs)), ones) + criterion(D(fake.detach()), zeros)
        loss_d.backward()
        opt_d.step()

        opt_g.zero_grad()
        loss_g = criterion(D(fake), ones)
        loss_g.backward()
        opt_g.step()
        if it % 100 == 0:
            print(f"iter {it} loss_d {loss_d.item():.3f} loss_g {loss_g.item():.3f}")
    with torch.no_grad():
        out = G(2000)
    print("generated mean", out.mean(0).tolist(), "target", [3.0, -2.0])
    print("distance", (out.mean(0) - torch.tensor([3.0, -2.0])).norm().item())


if __name__ == "__main__":
    train()
