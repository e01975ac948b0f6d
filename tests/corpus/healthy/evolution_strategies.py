"""Natural evolution strategies: no gradients anywhere."""
import torch
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters

torch.manual_seed(0)
policy = nn.Sequential(nn.Linear(2, 12), nn.Tanh(), nn.Linear(12, 1))
targets = torch.rand(64, 2) * 2 - 1


@torch.no_grad()
def fitness(theta):
    vector_to_parameters(theta, policy.parameters())
    out = policy(targets).squeeze(1)
    return -((out - targets.prod(dim=1)) ** 2).mean().item()


with torch.no_grad():
    theta = parameters_to_vector(policy.parameters()).clone()
    sigma, lr, half = 0.1, 0.02, 12
    for generation in range(25):
        eps = torch.randn(half, theta.numel())
        eps = torch.cat([eps, -eps])
        scores = torch.tensor([fitness(theta + sigma * e) for e in eps])
        ranks = scores.argsort().argsort().float() / (len(scores) - 1) - 0.5
        theta = theta + lr * (ranks @ eps) / (len(eps) * sigma)
        if generation % 5 == 0:
            print(f"generation {generation:2d} best {scores.max().item():.6f} mean {scores.mean().item():.6f}")
    vector_to_parameters(theta, policy.parameters())
