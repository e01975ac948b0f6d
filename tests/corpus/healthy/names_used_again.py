import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1)
x_all = torch.randn(192, 8)
y_all = (x_all[:, 0] + 0.5 * x_all[:, 1] > 0).long()

data = x_all.tolist()
data = torch.tensor(data)
data = [(data[i : i + 32], y_all[i : i + 32]) for i in range(0, 192, 32)]
model = nn.Linear(8, 2)
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(3):
    loss = 0.0
    for x, y in data:
        out = model(x)
        step_loss = F.cross_entropy(out, y)
        opt.zero_grad()
        step_loss.backward()
        opt.step()
        loss += step_loss.item()
    loss = loss / len(data)
    print(f"{loss:.3f}")
