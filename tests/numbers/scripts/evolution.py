"""Evolution strategies: no gradient at all."""

import torch

torch.manual_seed(0)
theta = torch.zeros(6)
goal = torch.tensor([0.5, 0.1, -0.3, 0.8, 0.2, -0.6])
for gen in range(8):
    noise = torch.randn(20, 6)
    fitness = -((theta + 0.1 * noise - goal) ** 2).sum(1)
    theta += 0.05 / (20 * 0.1) * noise.t() @ (fitness - fitness.mean())
    print(f"Generation {gen}: best fitness {fitness.max().item():.4f}, mean {fitness.mean().item():.4f}")
