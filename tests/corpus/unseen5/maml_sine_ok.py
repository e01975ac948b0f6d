"""First-order MAML on sinusoids with an auxiliary amplitude head used in the outer loss."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call


class SineNet(nn.Module):
    def __init__(self, width=40):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(1, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.wave = nn.Linear(width, 1)
        self.amp = nn.Linear(width, 1)

    def forward(self, x, with_amp=False):
        h = self.body(x)
        if with_amp:
            return self.wave(h), self.amp(h.mean(0))
        return self.wave(h)


def task():
    amp = torch.rand(1) * 4 + 1
    phase = torch.rand(1) * 3.14
    x = torch.rand(20, 1) * 10 - 5
    return x, amp * torch.sin(x - phase), amp


def adapt(model, x, y, lr=0.01, steps=2):
    fast = {k: v for k, v in model.named_parameters() if not k.startswith("amp")}
    for _ in range(steps):
        loss = F.mse_loss(functional_call(model, fast, (x,)), y)
        grads = torch.autograd.grad(loss, list(fast.values()))
        fast = {k: v - lr * g for (k, v), g in zip(fast.items(), grads)}
    return fast


def main():
    torch.manual_seed(2)
    model = SineNet()
    meta = torch.optim.Adam(model.parameters(), lr=2e-3)
    for it in range(60):
        outer = 0.0
        for _ in range(4):
            x, y, amp = task()
            fast = adapt(model, x[:10], y[:10])
            pred, amp_hat = functional_call(model, fast, (x[10:], True))
            outer = outer + F.mse_loss(pred, y[10:]) + 0.1 * F.mse_loss(amp_hat, amp)
        meta.zero_grad()
        (outer / 4).backward()
        meta.step()
        if it % 20 == 0:
            print(f"iter {it} meta loss {outer.item() / 4:.3f}")


if __name__ == "__main__":
    main()
