import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Smoother(nn.Module):
    """Denoises a signal; the noise level is annealed while training goes on."""

    def __init__(self, width=32):
        super().__init__()
        self.inp = nn.Linear(24, width)
        self.out = nn.Linear(width, 24)

    def forward(self, x, level):
        h = torch.relu(self.inp(x / (1 + level)))
        return self.out(h)


gen = torch.Generator().manual_seed(0)
model = Smoother()
step_fn = torch.compile(model, backend="eager", dynamic=False)
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
t = torch.linspace(0, 6.28, 24)

for step in range(40):
    level = torch.tensor(1.0 / (1 + step))
    clean = torch.sin(t + 6.28 * torch.rand(32, 1, generator=gen))
    noisy = clean + level * torch.randn(32, 24, generator=gen)
    loss = F.mse_loss(step_fn(noisy, level), clean)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 10 == 9:
        print(f"step {step + 1} loss {loss.item():.6f}")
