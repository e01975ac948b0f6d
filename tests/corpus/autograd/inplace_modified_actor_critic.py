import torch
import torch.nn as nn


def policy(states, n=2):
    return nn.Sequential(nn.Linear(states, 24), nn.Tanh(), nn.Linear(24, n), nn.Tanh())


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.q = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, s, a):
        return self.q(torch.cat([s, a], dim=-1))


def reward(s, a):
    """One step task: point the action at the state."""
    return -((a - 0.5 * s) ** 2).sum(-1, keepdim=True)


def update(actor, critic, opt_a, opt_c, batch):
    s = torch.rand(batch, 2) * 2 - 1
    with torch.no_grad():
        a = (actor(s) + 0.3 * torch.randn(batch, 2)).clamp(-1, 1)
        r = reward(s, a)

    critic_loss = nn.functional.mse_loss(critic(s, a), r)
    actor_loss = -critic(s, actor(s)).mean()

    opt_c.zero_grad()
    critic_loss.backward()
    opt_c.step()

    opt_a.zero_grad()
    actor_loss.backward()
    opt_a.step()
    return critic_loss.item(), actor_loss.item()


def main():
    torch.manual_seed(55)
    actor, critic = policy(2), Critic()
    opt_a = torch.optim.Adam(actor.parameters(), lr=2e-3)
    opt_c = torch.optim.Adam(critic.parameters(), lr=5e-3)
    for it in range(100):
        c, a = update(actor, critic, opt_a, opt_c, 64)
        if it % 20 == 19:
            with torch.no_grad():
                s = torch.rand(256, 2) * 2 - 1
                ret = reward(s, actor(s)).mean().item()
            print(f"it {it + 1} critic {c:.6f} actor {a:.6f} return {ret:.5f}")


if __name__ == "__main__":
    main()
