import torch
from torch import nn

torch.manual_seed(0)


class Summariser(nn.Module):
    """Encode a variable-speed sine with a GRU, then regress its frequency."""

    def __init__(self, hidden=24):
        super().__init__()
        self.rnn = nn.GRU(1, hidden, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(hidden, 24), nn.ReLU(), nn.Linear(24, 1))

    def forward(self, x):
        _, h = self.rnn(x)
        summary = h[-1]
        return self.mlp(summary).squeeze(-1)


def batch(n=48, length=20):
    freq = torch.rand(n) * 0.8 + 0.2
    t = torch.arange(length).float()
    x = torch.sin(freq[:, None] * t) + 0.05 * torch.randn(n, length)
    return x.unsqueeze(-1), freq


model = Summariser()
opt = torch.optim.Adam(model.parameters(), lr=2e-2)
losses = []
for it in range(80):
    x, freq = batch()
    opt.zero_grad()
    loss = nn.functional.mse_loss(model(x), freq)
    loss.backward()
    opt.step()
    losses.append(loss.item())
    if (it + 1) % 20 == 0:
        print(f"iteration {it + 1}: {sum(losses[-20:]) / 20:.6f}")
