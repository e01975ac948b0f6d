"""Antithetic evolution strategies: no backward pass, the optimizer gets hand-made gradients."""
import torch
import torch.nn as nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

torch.manual_seed(93)
torch.set_grad_enabled(False)


class Pendulum:
    def __init__(self, n):
        self.start = torch.rand(n, 2) * torch.tensor([1.0, 0.5]) - torch.tensor([0.5, 0.25])

    def score(self, policy, steps=40):
        s, total = self.start.clone(), 0.0
        for _ in range(steps):
            u = torch.tanh(policy(s)).squeeze(1) * 2
            acc = 1.5 * torch.sin(s[:, 0]) + u
            s = torch.stack([s[:, 0] + 0.1 * s[:, 1], s[:, 1] + 0.1 * acc], 1)
            total -= (s[:, 0] ** 2 + 0.1 * s[:, 1] ** 2 + 0.01 * u ** 2).mean().item()
        return total


policy = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
theta = parameters_to_vector(policy.parameters())
center = nn.Parameter(theta.clone())
opt = torch.optim.Adam([center], lr=0.05)
SIGMA, PAIRS = 0.1, 8
env = Pendulum(16)
for gen in range(25):
    noise = torch.randn(PAIRS, len(theta))
    gain = torch.zeros(PAIRS)
    for i, eps in enumerate(noise):
        vector_to_parameters(center + SIGMA * eps, policy.parameters())
        plus = env.score(policy)
        vector_to_parameters(center - SIGMA * eps, policy.parameters())
        gain[i] = plus - env.score(policy)
    gain = gain / (gain.std() + 1e-8)
    center.grad = -(gain[:, None] * noise).mean(0) / (2 * SIGMA)
    opt.step()
    vector_to_parameters(center, policy.parameters())
    if gen % 6 == 0:
        print(f"generation {gen} score {env.score(policy):.3f}")
