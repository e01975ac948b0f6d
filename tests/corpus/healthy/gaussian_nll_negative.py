import torch
import torch.nn as nn

torch.manual_seed(0)


class MeanVariance(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(1, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh())
        self.mean, self.raw = nn.Linear(48, 1), nn.Linear(48, 1)

    def forward(self, x):
        h = self.body(x)
        return self.mean(h), nn.functional.softplus(self.raw(h)) + 1e-6


x = torch.rand(600, 1) * 2 - 1
y = 0.5 * torch.sin(3 * x) + (0.01 + 0.04 * x.abs()) * torch.randn_like(x)
model = MeanVariance()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.GaussianNLLLoss()
for epoch in range(10):
    total = 0.0
    for idx in torch.randperm(600).split(60):
        mean, var = model(x[idx])
        loss = criterion(mean, y[idx], var)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        opt.step()
        total += loss.item() * len(idx)
    if epoch % 2 == 1:
        print(f"epoch {epoch + 1} nll {total / 600:.5f}")
