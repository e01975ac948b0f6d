"""Echo state network: a random, never trained recurrent part and a closed-form ridge readout."""
import numpy as np
import torch


class Reservoir(torch.nn.Module):
    def __init__(self, size=120, radius=0.9, leak=0.6):
        super().__init__()
        w = torch.randn(size, size) / size ** 0.5
        w *= radius / torch.linalg.eigvals(w).abs().max()
        self.register_buffer("w", w)
        self.register_buffer("w_in", (torch.rand(size, 2) - 0.5))
        self.leak = leak

    @torch.no_grad()
    def forward(self, u):
        h, states = torch.zeros(self.w.size(0)), []
        for x in u:
            inp = torch.stack([x, torch.ones(())])
            h = (1 - self.leak) * h + self.leak * torch.tanh(self.w @ h + self.w_in @ inp)
            states.append(h)
        return torch.stack(states)


def logistic_mix(n):
    x = np.zeros(n)
    x[0] = 0.37
    for i in range(1, n):
        x[i] = 3.72 * x[i - 1] * (1 - x[i - 1])
    return torch.tensor(x + 0.3 * np.sin(np.arange(n) / 7), dtype=torch.float32)


def ridge(states, target, lam=1e-4):
    a = torch.cat([states, torch.ones(len(states), 1)], 1).double()
    gram = a.t() @ a + lam * torch.eye(a.size(1), dtype=torch.double)
    return torch.linalg.solve(gram, a.t() @ target.double())


torch.manual_seed(95)
series = logistic_mix(1200)
reservoir = Reservoir()
states = reservoir(series[:-1])
target = series[1:]
washout, split = 100, 900
weights = ridge(states[washout:split], target[washout:split])


def readout(s):
    return (torch.cat([s, torch.ones(len(s), 1)], 1).double() @ weights).float()


pred = readout(states[split:])
nrmse = ((pred - target[split:]).pow(2).mean().sqrt() / target[split:].std()).item()
print(f"one-step NRMSE {nrmse:.4f}")
