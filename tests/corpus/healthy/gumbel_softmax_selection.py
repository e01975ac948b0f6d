import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class FeatureSelector(nn.Module):
    """Pick three of twelve features with hard Gumbel-softmax samples."""

    def __init__(self, d=12, k=3):
        super().__init__()
        self.logits = nn.Parameter(torch.zeros(k, d))
        self.net = nn.Sequential(nn.Linear(k, 24), nn.ReLU(), nn.Linear(24, 1))

    def forward(self, x, tau):
        mask = F.gumbel_softmax(self.logits, tau=tau, hard=True, dim=-1)
        return self.net(x @ mask.t())


x = torch.randn(512, 12)
y = x[:, 2:3] * 2 - x[:, 7:8] + 0.5 * x[:, 10:11]
model = FeatureSelector()
opt = torch.optim.Adam([{"params": [model.logits], "lr": 0.05}, {"params": model.net.parameters(), "lr": 0.01}])
for step in range(120):
    idx = torch.randint(0, 512, (64,))
    loss = F.mse_loss(model(x[idx], tau=max(0.5, 2.0 * 0.98 ** step)), y[idx])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 20 == 19:
        print(f"step {step + 1} loss {loss.item():.5f} chosen {sorted(model.logits.argmax(1).tolist())}")
