import numpy as np
import torch

rng = np.random.RandomState(0)
torch.manual_seed(0)

# pendulum: angle and velocity -> acceleration
theta = rng.uniform(-2, 2, 400)
omega = rng.uniform(-1, 1, 400)
acc = -1.5 * np.sin(theta) - 0.2 * omega + 0.02 * rng.randn(400)

inputs = torch.tensor(np.stack([theta, omega], axis=1)).float()
targets = torch.tensor(acc).float()


class Dynamics(torch.nn.Module):
    def __init__(self, hidden=40):
        super().__init__()
        self.inp = torch.nn.Linear(2, hidden)
        self.mid = torch.nn.Linear(hidden, hidden)
        self.out = torch.nn.Linear(hidden, 1)

    def forward(self, state):
        h = torch.tanh(self.inp(state))
        h = torch.tanh(self.mid(h))
        return self.out(h)


net = Dynamics()
opt = torch.optim.Adam(net.parameters(), 3e-3)
batch = 50
for epoch in range(12):
    order = torch.randperm(320)
    epoch_loss = 0.0
    for k in range(0, 320, batch):
        sel = order[k:k + batch]
        predicted = net(inputs[sel]).squeeze(-1)
        residual = predicted - targets[sel]
        loss = (residual ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        epoch_loss += loss.item() * len(sel)
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1}: {epoch_loss / 320:.6f}")

with torch.no_grad():
    err = net(inputs[320:]).flatten() - targets[320:]
print(f"validation rmse {err.pow(2).mean().sqrt().item():.6f}")
