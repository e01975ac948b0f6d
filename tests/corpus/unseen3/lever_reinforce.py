import argparse
import torch
from torch import nn
import torch.nn.functional as F


class LeverGame:
    """Pull lever k at the start; it pays at the end of the episode."""

    HORIZON = 6

    def reset(self):
        self.t, self.first = 0, None
        return self._obs()

    def _obs(self):
        return F.one_hot(torch.tensor(self.t), self.HORIZON + 1).float()

    def step(self, a):
        if self.t == 0:
            self.first = a
        self.t += 1
        done = self.t == self.HORIZON
        reward = 1.0 if done and self.first == 2 else 0.0
        return self._obs(), reward, done


def discounted(rewards, gamma):
    returns, running = [], 0.0
    for r in rewards:
        running = r + gamma * running
        returns.append(running)
    return torch.tensor(returns)


def play(env, policy):
    obs, done, logps, rewards = env.reset(), False, [], []
    while not done:
        dist = torch.distributions.Categorical(logits=policy(obs))
        a = dist.sample()
        logps.append(dist.log_prob(a))
        obs, r, done = env.step(a.item())
        rewards.append(r)
    return torch.stack(logps), rewards


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--updates", type=int, default=120)
    p.add_argument("--gamma", type=float, default=0.99)
    args = p.parse_args()
    torch.manual_seed(9)
    env = LeverGame()
    policy = nn.Sequential(nn.Linear(7, 24), nn.Tanh(), nn.Linear(24, 4))
    opt = torch.optim.Adam(policy.parameters(), lr=0.02)
    for u in range(args.updates):
        losses, scores = [], []
        for _ in range(8):
            logps, rewards = play(env, policy)
            ret = discounted(rewards, args.gamma)
            losses.append(-(logps * ret).sum())
            scores.append(sum(rewards))
        loss = torch.stack(losses).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if u % 20 == 0 or u == args.updates - 1:
            print(f"update {u} mean score {sum(scores) / len(scores):.2f}")


if __name__ == "__main__":
    main()
