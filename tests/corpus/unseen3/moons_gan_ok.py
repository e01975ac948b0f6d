import torch
from torch import nn
from sklearn.datasets import make_moons

torch.manual_seed(4)
data = torch.tensor(make_moons(1000, noise=0.05, random_state=0)[0], dtype=torch.float32)
data = (data - data.mean(0)) / data.std(0)
G = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
D = nn.Sequential(nn.Linear(2, 64), nn.LeakyReLU(0.2), nn.Linear(64, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1))
opt_g = torch.optim.Adam(G.parameters(), lr=1e-3, betas=(0.5, 0.9))
opt_d = torch.optim.Adam(D.parameters(), lr=1e-3, betas=(0.5, 0.9))
softplus = nn.functional.softplus

for it in range(400):
    real = data[torch.randint(0, 1000, (64,))]
    with torch.no_grad():
        fake = G(torch.randn(64, 8))
    d_loss = softplus(-D(real)).mean() + softplus(D(fake)).mean()
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()

    D.requires_grad_(False)
    g_loss = softplus(-D(G(torch.randn(64, 8)))).mean()
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
    D.requires_grad_(True)
    if it % 100 == 0:
        print(f"{it}: d {d_loss.item():.3f} g {g_loss.item():.3f}")
with torch.no_grad():
    print("distance to data", torch.cdist(G(torch.randn(300, 8)), data).min(1).values.mean().item())


with torch.no_grad():
    fakes = G(torch.randn(1000, 8))
    score_real = torch.sigmoid(D(data)).mean().item()
    score_fake = torch.sigmoid(D(fakes)).mean().item()
print(f"D(real) {score_real:.3f} D(fake) {score_fake:.3f}")
print("fake mean", [round(v, 3) for v in fakes.mean(0).tolist()], "std", [round(v, 3) for v in fakes.std(0).tolist()])
