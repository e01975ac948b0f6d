import torch
from torch import nn


def mlp(n_in, n_out, hidden=32):
    return nn.Sequential(nn.Linear(n_in, hidden), nn.ReLU(), nn.Linear(hidden, n_out))


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = mlp(3, 1)

    def forward(self, s, a):
        return self.net(torch.cat([s, a], dim=1)).squeeze(1)


class DDPG:
    def __init__(self, gamma=0.8, tau=0.1):
        self.gamma, self.tau = gamma, tau
        self.actor = nn.Sequential(mlp(2, 1), nn.Tanh())
        self.actor_target = nn.Sequential(mlp(2, 1), nn.Tanh())
        self.actor_target.load_state_dict(self.actor.state_dict())
        self.critic = Critic()
        self.critic_target = self.critic
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=1e-3)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=3e-3)

    @torch.no_grad()
    def soft_update(self, net, target):
        for p, tp in zip(net.parameters(), target.parameters()):
            tp.mul_(1 - self.tau).add_(self.tau * p)

    def update(self, s, a, r, s2, done):
        with torch.no_grad():
            y = r + self.gamma * (1 - done) * self.critic_target(s2, self.actor_target(s2))
        critic_loss = nn.functional.mse_loss(self.critic(s, a), y)
        self.critic_opt.zero_grad()
        critic_loss.backward()
        self.critic_opt.step()

        actor_loss = -self.critic(s, self.actor(s)).mean()
        self.actor_opt.zero_grad()
        actor_loss.backward()
        self.actor_opt.step()

        self.soft_update(self.actor, self.actor_target)
        self.soft_update(self.critic, self.critic_target)
        return critic_loss.item(), actor_loss.item()
