import torch
import torch.nn as nn

torch.manual_seed(0)


class MCDropoutRegressor(nn.Module):
    """Dropout stays active at prediction time to sample from the approximate posterior."""

    def __init__(self, p=0.1):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, 64), nn.ReLU(), nn.Dropout(p), nn.Linear(64, 64), nn.ReLU(), nn.Dropout(p), nn.Linear(64, 1))

    def forward(self, x):
        return self.net(x)

    def predict_mc(self, x, samples=30):
        self.train()
        with torch.no_grad():
            draws = torch.stack([self(x) for _ in range(samples)])
        return draws.mean(0), draws.std(0)


x = torch.rand(200, 1) * 4 - 2
y = torch.sin(2 * x) + 0.1 * torch.randn_like(x)
model = MCDropoutRegressor()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
model.train()
for epoch in range(15):
    for idx in torch.randperm(200).split(40):
        loss = nn.functional.mse_loss(model(x[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1} loss {loss.item():.5f}")

mean, std = model.predict_mc(torch.tensor([[0.0], [1.0], [4.0]]))
for m, s in zip(mean.flatten().tolist(), std.flatten().tolist()):
    print(f"prediction {m:.4f} +- {s:.4f}")
