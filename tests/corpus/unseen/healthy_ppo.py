import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from torch.distributions.categorical import Categorical

seed, num_envs, num_steps, gamma, lam, clip_coef, ent_coef, vf_coef = 1, 8, 16, 0.9, 0.95, 0.2, 0.01, 0.5
rng = np.random.default_rng(seed)
torch.manual_seed(seed)


class VecMatch:
    """Go to the goal cell on a ring of 7; one observation of place and goal."""

    def reset(self):
        self.pos = rng.integers(0, 7, num_envs)
        self.goal = rng.integers(0, 7, num_envs)
        return self.obs()

    def obs(self):
        o = np.zeros((num_envs, 14), dtype=np.float32)
        o[np.arange(num_envs), self.pos] = 1
        o[np.arange(num_envs), 7 + self.goal] = 1
        return o

    def step(self, a):
        self.pos = (self.pos + np.where(a == 1, 1, -1)) % 7
        done = self.pos == self.goal
        self.goal = np.where(done, rng.integers(0, 7, num_envs), self.goal)
        return self.obs(), np.where(done, 1.0, -0.05).astype(np.float32), done.astype(np.float32)


def layer_init(layer, std=np.sqrt(2), bias_const=0.0):
    torch.nn.init.orthogonal_(layer.weight, std)
    torch.nn.init.constant_(layer.bias, bias_const)
    return layer


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.critic = nn.Sequential(layer_init(nn.Linear(14, 48)), nn.Tanh(), layer_init(nn.Linear(48, 1), std=1.0))
        self.actor = nn.Sequential(layer_init(nn.Linear(14, 48)), nn.Tanh(), layer_init(nn.Linear(48, 2), std=0.01))

    def get_action_and_value(self, x, action=None):
        probs = Categorical(logits=self.actor(x))
        if action is None:
            action = probs.sample()
        return action, probs.log_prob(action), probs.entropy(), self.critic(x)


agent = Agent()
optimizer = optim.Adam(agent.parameters(), lr=3e-3, eps=1e-5)
envs = VecMatch()
next_obs, next_done = torch.from_numpy(envs.reset()), torch.zeros(num_envs)
num_updates = 12
for update in range(1, num_updates + 1):
    optimizer.param_groups[0]["lr"] = (1.0 - (update - 1.0) / num_updates) * 3e-3
    obs, actions, logprobs, rewards, dones, values = [], [], [], [], [], []
    for step in range(num_steps):
        obs.append(next_obs)
        dones.append(next_done)
        with torch.no_grad():
            action, logprob, _, value = agent.get_action_and_value(next_obs)
        values.append(value.flatten())
        actions.append(action)
        logprobs.append(logprob)
        o, r, d = envs.step(action.numpy())
        rewards.append(torch.from_numpy(r))
        next_obs, next_done = torch.from_numpy(o), torch.from_numpy(d)
    obs, actions, logprobs, rewards, dones, values = map(torch.stack, (obs, actions, logprobs, rewards, dones, values))
    with torch.no_grad():
        next_value = agent.critic(next_obs).flatten()
        advantages, lastgaelam = torch.zeros_like(rewards), 0
        for t in reversed(range(num_steps)):
            nonterminal = 1.0 - (next_done if t == num_steps - 1 else dones[t + 1])
            nextv = next_value if t == num_steps - 1 else values[t + 1]
            delta = rewards[t] + gamma * nextv * nonterminal - values[t]
            advantages[t] = lastgaelam = delta + gamma * lam * nonterminal * lastgaelam
        returns = advantages + values
    flat = [v.flatten(0, 1) for v in (obs, actions, logprobs, advantages, returns)]
    for epoch in range(4):
        for mb in torch.randperm(num_envs * num_steps).split(32):
            b_obs, b_act, b_lp, b_adv, b_ret = [v[mb] for v in flat]
            _, newlogprob, entropy, newvalue = agent.get_action_and_value(b_obs, b_act)
            ratio = (newlogprob - b_lp).exp()
            b_adv = (b_adv - b_adv.mean()) / (b_adv.std() + 1e-8)
            pg_loss = torch.max(-b_adv * ratio, -b_adv * torch.clamp(ratio, 1 - clip_coef, 1 + clip_coef)).mean()
            v_loss = 0.5 * ((newvalue.view(-1) - b_ret) ** 2).mean()
            loss = pg_loss - ent_coef * entropy.mean() + v_loss * vf_coef
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()
    if update % 3 == 0:
        print(f"update {update} mean reward {rewards.mean().item():.4f} v_loss {v_loss.item():.4f}")
