"""Group-relative policy optimisation on a toy arithmetic task: several answers to each question."""
from dataclasses import dataclass

import torch
from torch import nn
from torch.distributions import Categorical


@dataclass
class Cfg:
    questions: int = 12
    group: int = 12
    lr: float = 2e-2
    updates: int = 60
    eps: float = 1e-4


class Answerer(nn.Module):
    def __init__(self, base=6):
        super().__init__()
        self.base = base
        self.embed = nn.Embedding(base, 12)
        self.mlp = nn.Sequential(nn.Linear(24, 48), nn.ReLU(), nn.Linear(48, base))

    def forward(self, a, b):
        return Categorical(logits=self.mlp(torch.cat([self.embed(a), self.embed(b)], dim=-1)))


class GRPO:
    def __init__(self, cfg):
        self.cfg = cfg
        self.policy = Answerer()
        self.opt = torch.optim.Adam(self.policy.parameters(), lr=cfg.lr)

    def advantages(self, rewards):
        mean = rewards.mean(dim=1, keepdim=True)
        std = rewards.std(dim=1, keepdim=True)
        return (rewards - mean) / (std + self.cfg.eps)

    def update(self):
        c = self.cfg
        a = torch.randint(0, self.policy.base, (c.questions, 1)).expand(-1, c.group)
        b = torch.randint(0, self.policy.base, (c.questions, 1)).expand(-1, c.group)
        dist = self.policy(a, b)
        answer = dist.sample()
        rewards = (answer == (a + b) % self.policy.base).float()
        adv = self.advantages(rewards)
        loss = -(dist.log_prob(answer) * adv).mean()
        self.opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.policy.parameters(), 1.0)
        self.opt.step()
        return loss.item(), rewards.mean().item()


if __name__ == "__main__":
    torch.manual_seed(0)
    cfg = Cfg()
    algo = GRPO(cfg)
    for u in range(cfg.updates):
        loss, reward = algo.update()
        if u % 12 == 11:
            print(f"update {u + 1}: loss {loss:.6f} reward {reward:.4f}")
