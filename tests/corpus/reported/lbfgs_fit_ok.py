"""Fit a sum of two damped oscillations with LBFGS."""
import math

import torch

torch.manual_seed(0)
time = torch.linspace(0, 6, 240)
true = {"amp": [1.0, 0.6], "freq": [1.1, 2.3], "damp": [0.25, 0.4]}


def curve(amp, freq, damp, t):
    parts = amp.unsqueeze(1) * torch.exp(-damp.unsqueeze(1) * t) * torch.cos(2 * math.pi * freq.unsqueeze(1) * t)
    return parts.sum(dim=0)


observed = curve(*(torch.tensor(true[k]) for k in ("amp", "freq", "damp")), time)
observed = observed + 0.02 * torch.randn(len(time))


class Oscillations(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.amp = torch.nn.Parameter(torch.tensor([0.8, 0.8]))
        self.freq = torch.nn.Parameter(torch.tensor([1.05, 2.35]))
        self.damp = torch.nn.Parameter(torch.tensor([0.1, 0.1]))

    def forward(self, t):
        return curve(self.amp, self.freq, self.damp, t)


def fit(model, steps=15):
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=10, history_size=10)

    def closure():
        optimizer.zero_grad()
        loss = torch.mean((model(time) - observed) ** 2)
        loss.backward()
        return loss

    for step in range(steps):
        loss = optimizer.step(closure)
        if step % 5 == 4:
            print(f"step {step + 1}: loss {loss.item():.6f}")


model = Oscillations()
fit(model)
with torch.no_grad():
    residual = (model(time) - observed).pow(2).mean().sqrt().item()
print("residual", round(residual, 4))
print("frequencies", [round(f, 3) for f in model.freq.tolist()], "expected", true["freq"])
