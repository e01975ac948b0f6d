import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1)

agent = nn.Sequential(nn.Linear(4, 32), nn.Tanh())
actor, critic = nn.Linear(32, 2), nn.Linear(32, 1)
params = [*agent.parameters(), *actor.parameters(), *critic.parameters()]
opt = torch.optim.Adam(params, lr=2.5e-4, eps=1e-5)
for update in range(3):
    obs = torch.randn(64, 4)
    with torch.no_grad():
        dist = torch.distributions.Categorical(logits=actor(agent(obs)))
        actions = dist.sample()
        old_logprob = dist.log_prob(actions)
        values = critic(agent(obs)).flatten()
    returns = values + torch.randn(64)
    advantages = returns - values
    for _ in range(2):
        for rows in torch.randperm(64).split(16):
            hidden = agent(obs[rows])
            dist = torch.distributions.Categorical(logits=actor(hidden))
            ratio = (dist.log_prob(actions[rows]) - old_logprob[rows]).exp()
            adv = advantages[rows]
            adv = (adv - adv.mean()) / (adv.std() + 1e-8)
            policy = torch.max(-adv * ratio, -adv * ratio.clamp(0.8, 1.2)).mean()
            value = 0.5 * (critic(hidden).flatten() - returns[rows]).pow(2).mean()
            loss = policy + 0.5 * value - 0.01 * dist.entropy().mean()
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(params, 0.5)
            opt.step()
    print(update, loss.item())
