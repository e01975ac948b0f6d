import numpy as np
import torch
from torch import nn

torch.manual_seed(18)
rng = np.random.default_rng(18)

x = np.concatenate([rng.uniform(-3, -1, 200), rng.uniform(1, 3, 200)])
y = np.sin(1.5 * x) + rng.normal(0, 0.1, 400)
X = torch.tensor(x, dtype=torch.float32).unsqueeze(1)
Y = torch.tensor(y, dtype=torch.float32).unsqueeze(1)


class MCDropoutNet(nn.Module):
    def __init__(self, p=0.1):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(1, 64), nn.ReLU(), nn.Dropout(p), nn.Linear(64, 64), nn.ReLU(),
                                 nn.Dropout(p), nn.Linear(64, 1))

    def forward(self, x):
        return self.net(x)


def enable_dropout(model):
    """Monte-Carlo dropout: everything in eval mode except the dropout layers."""
    model.eval()
    for m in model.modules():
        if isinstance(m, nn.Dropout):
            m.train()


@torch.no_grad()
def predict_with_uncertainty(model, x, passes=50):
    enable_dropout(model)
    draws = torch.stack([model(x) for _ in range(passes)])
    return draws.mean(0).squeeze(1), draws.std(0).squeeze(1)


model = MCDropoutNet()
opt = torch.optim.Adam(model.parameters(), lr=5e-3, weight_decay=1e-5)
for epoch in range(60):
    model.train()
    for idx in torch.randperm(len(X)).split(50):
        loss = nn.functional.mse_loss(model(X[idx]), Y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 15 == 14:
        print(f"epoch {epoch + 1} loss {loss.item():.4f}")

grid = torch.tensor([[-6.0], [-2.0], [0.0], [2.0], [6.0]])
mean, std = predict_with_uncertainty(model, grid)
for g, m, s in zip(grid[:, 0].tolist(), mean.tolist(), std.tolist()):
    print(f"x={g:+.1f} mean {m:+.3f} std {s:.3f} truth {np.sin(1.5 * g):+.3f}")
