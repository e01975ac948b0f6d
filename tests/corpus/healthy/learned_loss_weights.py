import torch
import torch.nn as nn


class UncertaintyWeighting(nn.Module):
    """Homoscedastic uncertainty weighting of several losses; the total may become negative."""

    def __init__(self, n):
        super().__init__()
        self.log_var = nn.Parameter(torch.zeros(n))

    def forward(self, losses):
        losses = torch.stack(losses)
        return (0.5 * torch.exp(-self.log_var) * losses + 0.5 * self.log_var).sum()


torch.manual_seed(1)
net = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 2))
weighting = UncertaintyWeighting(2)
opt = torch.optim.Adam([{"params": net.parameters()}, {"params": weighting.parameters(), "lr": 3e-2}], lr=1e-2)
for step in range(120):
    x = torch.randn(64, 4)
    small = 0.1 * x[:, 0].sin()
    large = 2.0 * x[:, 1] + x[:, 2]
    out = net(x)
    parts = [nn.functional.mse_loss(out[:, 0], small), nn.functional.mse_loss(out[:, 1], large)]
    loss = weighting(parts)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 20 == 0:
        w = weighting.log_var.detach().neg().exp().tolist()
        print(f"step {step} total {loss.item():.5f} parts {parts[0].item():.5f} {parts[1].item():.5f} weights {w[0]:.3f} {w[1]:.3f}")
