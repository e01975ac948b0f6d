import copy
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(3)


def soft_update(target, source, tau):
    with torch.no_grad():
        for t, s in zip(target.parameters(), source.parameters()):
            t.mul_(1 - tau).add_(s, alpha=tau)


actor = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 1), nn.Tanh())
critic = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1))
actor_t = copy.deepcopy(actor).requires_grad_(False)
critic_t = copy.deepcopy(critic).requires_grad_(False)
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=5e-3)

s = torch.rand(600, 2) * 2 - 1
a = torch.rand(600, 1) * 2 - 1
s2 = (s + 0.3 * torch.cat([a, -a], dim=1)).clamp(-1, 1)
r = -s2.pow(2).sum(1, keepdim=True)

for it in range(80):
    b = torch.randint(0, 600, (64,))
    with torch.no_grad():
        y = r[b] + 0.8 * critic_t(torch.cat([s2[b], actor_t(s2[b])], dim=1))
    q_loss = F.mse_loss(critic(torch.cat([s[b], a[b]], dim=1)), y)
    critic_opt.zero_grad()
    q_loss.backward()
    critic_opt.step()

    # leaves gradients on the critic too; they are cleared before its next step
    policy_loss = -critic(torch.cat([s[b], actor(s[b])], dim=1)).mean()
    actor_opt.zero_grad()
    policy_loss.backward()
    actor_opt.step()

    soft_update(actor_t, actor, 0.05)
    soft_update(critic_t, critic, 0.05)
    if it % 16 == 0:
        print(f"{it:3d} q {q_loss.item():.5f} policy {policy_loss.item():.5f}")
