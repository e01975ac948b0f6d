"""Learn an initialisation that adapts to a new sine wave in a few steps."""
import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call

INNER_LR, INNER_STEPS, TASKS = 0.05, 2, 6


def sample_task(generator):
    amplitude = 0.5 + 2 * torch.rand(1, generator=generator)
    phase = math.pi * torch.rand(1, generator=generator)

    def draw(count):
        x = torch.rand(count, 1, generator=generator) * 6 - 3
        return x, amplitude * torch.sin(x + phase)

    return draw


def adapt(model, x, y):
    fast = dict(model.named_parameters())
    for _ in range(INNER_STEPS):
        loss = F.mse_loss(functional_call(model, fast, (x,)), y)
        grads = torch.autograd.grad(loss, list(fast.values()), create_graph=True)
        fast = {
            name: weight - INNER_LR * grad
            for (name, weight), grad in zip(fast.items(), grads)
        }
    return fast


def evaluate(model, seed=5):
    generator = torch.Generator().manual_seed(seed)
    losses = []
    for _ in range(20):
        draw = sample_task(generator)
        fast = adapt(model, *draw(10))
        x, y = draw(50)
        with torch.no_grad():
            losses.append(F.mse_loss(functional_call(model, fast, (x,)), y).item())
    return sum(losses) / len(losses)


def main():
    torch.manual_seed(81)
    generator = torch.Generator().manual_seed(81)
    model = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
    meta_optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for iteration in range(100):
        meta_optimizer.zero_grad()
        total = 0.0
        for _ in range(TASKS):
            draw = sample_task(generator)
            fast = adapt(model, *draw(10))
            x, y = draw(20)
            loss = F.mse_loss(functional_call(model, fast, (x,)), y) / TASKS
            loss.backward()
            total += loss.item()
        meta_optimizer.step()
        if iteration % 25 == 24:
            print(f"iteration {iteration + 1} query loss {total:.3f} held-out loss {evaluate(model):.3f}")


if __name__ == "__main__":
    main()
