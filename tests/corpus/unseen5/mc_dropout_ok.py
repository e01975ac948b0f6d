"""Monte-Carlo dropout: dropout layers stay in train mode at prediction time on purpose."""
import torch
import torch.nn as nn

torch.manual_seed(0)


class BayesianRegressor(nn.Module):
    def __init__(self, p=0.1):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(1, 64), nn.ReLU(), nn.Dropout(p),
            nn.Linear(64, 64), nn.ReLU(), nn.Dropout(p),
            nn.Linear(64, 1),
        )

    def forward(self, x):
        return self.net(x)

    def enable_mc(self):
        self.eval()
        for m in self.modules():
            if isinstance(m, nn.Dropout):
                m.train()

    @torch.no_grad()
    def predict(self, x, samples=50):
        self.enable_mc()
        draws = torch.stack([self(x) for _ in range(samples)])
        return draws.mean(0), draws.std(0)


x = torch.cat([torch.rand(150, 1) * 2 - 3, torch.rand(150, 1) * 2 + 1])
y = torch.sin(2 * x) + 0.1 * torch.randn_like(x)
model = BayesianRegressor()
opt = torch.optim.Adam(model.parameters(), lr=5e-3, weight_decay=1e-5)
for step in range(500):
    model.train()
    loss = nn.functional.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 100 == 0:
        print(f"step {step} loss {loss.item():.4f}")
grid = torch.tensor([[-2.0], [2.0], [0.0], [5.0]])
mean, std = model.predict(grid)
for g, m, s in zip(grid, mean, std):
    print(f"x={g.item():+.1f} mean {m.item():+.3f} std {s.item():.3f}")
