"""Reptile meta-learning on tremor waveforms (sine tasks)."""
import copy

import numpy as np
import torch
import torch.nn as nn


def sample_tasks(n, seed=0):
    rng = np.random.default_rng(seed)
    tasks = []
    for _ in range(n):
        amp, phase = rng.uniform(0.5, 3.0), rng.uniform(0, np.pi)
        x = rng.uniform(-4, 4, (30, 1)).astype(np.float32)
        y = (amp * np.sin(x + phase)).astype(np.float32)
        tasks.append((torch.from_numpy(x), torch.from_numpy(y)))
    return tasks


def make_net():
    return nn.Sequential(nn.Linear(1, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, 1))


def inner_loop(net, x, y, steps, lr=0.03):
    opt = torch.optim.SGD(net.parameters(), lr=lr)
    for _ in range(steps):
        loss = nn.functional.mse_loss(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


def evaluate(net, tasks):
    scores = []
    for x, y in tasks:
        learner = copy.deepcopy(net)
        inner_loop(learner, x[:10], y[:10], steps=8)
        with torch.no_grad():
            scores.append(nn.functional.mse_loss(learner(x[10:]), y[10:]).item())
    return float(np.mean(scores))


def main(iterations=250, meta_lr=0.3):
    torch.manual_seed(0)
    net = make_net()
    held_out = sample_tasks(40, seed=10_000)
    for it in range(iterations):
        batch = sample_tasks(2, seed=it)
        step = meta_lr * (1 - it / iterations)
        for x, y in batch:
            learner = copy.deepcopy(net)
            inner_loop(learner, x, y, steps=5)
            with torch.no_grad():
                for p, q in zip(net.parameters(), learner.parameters()):
                    p += step * (q - p)
        if it % 50 == 0:
            print(f"iter {it} held-out mse after adaptation {evaluate(net, held_out):.3f}")
    print(f"final held-out mse after adaptation {evaluate(net, held_out):.3f}")


if __name__ == "__main__":
    main()
