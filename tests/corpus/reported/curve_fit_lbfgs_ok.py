import torch
from torch import nn


class DampedWave(nn.Module):
    def __init__(self):
        super().__init__()
        self.amplitude = nn.Parameter(torch.tensor(1.0))
        self.decay = nn.Parameter(torch.tensor(0.1))
        self.frequency = nn.Parameter(torch.tensor(1.9))
        self.offset = nn.Parameter(torch.tensor(0.0))

    def forward(self, t):
        return self.amplitude * torch.exp(-self.decay * t) * torch.cos(self.frequency * t) + self.offset


def measure(count=200):
    generator = torch.Generator().manual_seed(51)
    t = torch.linspace(0, 8, count)
    clean = 1.7 * torch.exp(-0.3 * t) * torch.cos(2.0 * t) + 0.4
    return t, clean + 0.03 * torch.randn(count, generator=generator)


def main():
    torch.manual_seed(51)
    times, signal = measure()
    model = DampedWave()
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=10)

    def objective(t, y):
        return ((model(t) - y) ** 2).mean()

    for step in range(12):
        def closure():
            optimizer.zero_grad()
            loss = objective(times, signal)
            loss.backward()
            return loss

        loss = optimizer.step(closure)
        print(f"step {step} loss {loss.item():.6f}")
    for name, value in model.named_parameters():
        print(f"{name} = {value.item():.3f}")


if __name__ == "__main__":
    main()
