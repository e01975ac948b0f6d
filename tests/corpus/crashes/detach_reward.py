import torch
import torch.nn as nn

torch.manual_seed(0)
actor = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 2))
critic = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-3)
critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)
for step in range(20):
    state = torch.randn(32, 4)
    returns = state.sum(1)
    value = critic(state).squeeze(1)
    advantage = returns - value
    critic_loss = nn.functional.mse_loss(value, returns)
    critic_opt.zero_grad()
    critic_loss.backward()
    critic_opt.step()
    logp = actor(state).log_softmax(1)[:, 0]
    actor_loss = -(logp * advantage).mean()
    actor_opt.zero_grad()
    actor_loss.backward()
    actor_opt.step()
print(actor_loss.item(), critic_loss.item())
