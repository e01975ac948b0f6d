"""PPO in the CleanRL layout on a vectorised tracking task."""
import numpy as np
import torch
import torch.nn as nn
from torch.distributions.categorical import Categorical


class VecTrack:
    """Move left / stay / right to follow a target; episodes of 25 steps with auto reset."""

    def __init__(self, n, seed):
        self.n, self.rng = n, np.random.default_rng(seed)
        self.s, self.t = np.zeros((n, 2), np.float32), np.zeros(n, int)

    def reset(self):
        self.s[:] = self.rng.uniform(-1, 1, (self.n, 2))
        return self.s.copy()

    def step(self, a):
        self.s[:, 0] = np.clip(self.s[:, 0] + (a - 1) * 0.1, -1, 1)
        r = -np.abs(self.s[:, 0] - self.s[:, 1])
        self.t += 1
        done = self.t >= 25
        self.s[done] = self.rng.uniform(-1, 1, (done.sum(), 2))
        self.t[done] = 0
        return self.s.copy(), r.astype(np.float32), done.astype(np.float32)


def layer_init(layer, std=np.sqrt(2), bias=0.0):
    torch.nn.init.orthogonal_(layer.weight, std)
    torch.nn.init.constant_(layer.bias, bias)
    return layer


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.critic = nn.Sequential(layer_init(nn.Linear(2, 32)), nn.Tanh(), layer_init(nn.Linear(32, 1), std=1.0))
        self.actor = nn.Sequential(layer_init(nn.Linear(2, 32)), nn.Tanh(), layer_init(nn.Linear(32, 3), std=0.01))

    def get_value(self, x):
        return self.critic(x)

    def get_action_and_value(self, x, action=None):
        probs = Categorical(logits=self.actor(x))
        if action is None:
            action = probs.sample()
        return action, probs.log_prob(action), probs.entropy(), self.critic(x)


if __name__ == "__main__":
    torch.manual_seed(1)
    num_envs, num_steps, gamma, lam, clip = 8, 50, 0.95, 0.95, 0.2
    envs, agent = VecTrack(num_envs, 1), Agent()
    optimizer = torch.optim.Adam(agent.parameters(), lr=5e-3, eps=1e-5)
    obs = torch.zeros((num_steps, num_envs, 2))
    actions = torch.zeros((num_steps, num_envs))
    logprobs, rewards, dones, values = (torch.zeros((num_steps, num_envs)) for _ in range(4))
    next_obs, next_done = torch.tensor(envs.reset()), torch.zeros(num_envs)
    iterations = 15
    for it in range(1, iterations + 1):
        optimizer.param_groups[0]["lr"] = 5e-3 * (1 - (it - 1) / iterations)
        for step in range(num_steps):
            obs[step], dones[step] = next_obs, next_done
            with torch.no_grad():
                action, logprob, _, value = agent.get_action_and_value(next_obs)
                values[step] = value.flatten()
            actions[step], logprobs[step] = action, logprob
            o, r, d = envs.step(action.numpy())
            rewards[step] = torch.tensor(r)
            next_obs, next_done = torch.tensor(o), torch.tensor(d)
        with torch.no_grad():
            next_value = agent.get_value(next_obs).reshape(1, -1)
            advantages, lastgaelam = torch.zeros_like(rewards), 0
            for t in reversed(range(num_steps)):
                nonterminal = 1.0 - (next_done if t == num_steps - 1 else dones[t + 1])
                nextvalues = next_value if t == num_steps - 1 else values[t + 1]
                delta = rewards[t] + gamma * nextvalues * nonterminal - values[t]
                advantages[t] = lastgaelam = delta + gamma * lam * nonterminal * lastgaelam
            returns = advantages + values
        b_obs, b_act, b_lp = obs.reshape(-1, 2), actions.reshape(-1), logprobs.reshape(-1)
        b_adv, b_ret = advantages.reshape(-1), returns.reshape(-1)
        for epoch in range(4):
            for mb in torch.randperm(num_steps * num_envs).split(100):
                _, newlp, entropy, newv = agent.get_action_and_value(b_obs[mb], b_act[mb])
                ratio = (newlp - b_lp[mb]).exp()
                adv = (b_adv[mb] - b_adv[mb].mean()) / (b_adv[mb].std() + 1e-8)
                pg_loss = torch.max(-adv * ratio, -adv * ratio.clamp(1 - clip, 1 + clip)).mean()
                v_loss = 0.5 * ((newv.view(-1) - b_ret[mb]) ** 2).mean()
                loss = pg_loss - 0.01 * entropy.mean() + 0.5 * v_loss
                optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
                optimizer.step()
        if it % 3 == 0:
            print(f"iteration {it} mean reward {rewards.mean().item():.4f}")
