import torch, torch.nn as nn

torch.manual_seed(5)
gen = nn.Sequential(nn.Linear(3, 24), nn.ReLU(), nn.Linear(24, 1))
critic = nn.Sequential(nn.Linear(1, 24), nn.ReLU(), nn.Linear(24, 1))
og = torch.optim.RMSprop(gen.parameters(), lr=1e-3)
oc = torch.optim.RMSprop(critic.parameters(), lr=1e-3)

for it in range(90):
    # critic: five updates for each one of the generator
    for p in critic.parameters():
        p.requires_grad = True
    real = 2.0 + 0.5 * torch.randn(64, 1)
    with torch.no_grad():
        fake = gen(torch.randn(64, 3))
    oc.zero_grad()
    lc = critic(fake).mean() - critic(real).mean()
    lc.backward()
    oc.step()
    with torch.no_grad():
        for p in critic.parameters():
            p.clamp_(-0.1, 0.1)
    if it % 5 != 4:
        continue
    for p in critic.parameters():
        p.requires_grad = False
    og.zero_grad()
    lg = -critic(gen(torch.randn(64, 3))).mean()
    lg.backward()
    og.step()
    if it % 15 == 14:
        print("%d critic %.6f gen %.6f" % (it + 1, lc.item(), lg.item()))
