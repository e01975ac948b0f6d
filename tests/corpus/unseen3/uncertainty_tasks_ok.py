import torch
from torch import nn

torch.manual_seed(20)
x = torch.randn(800, 6)
y_reg = (x[:, :1] - x[:, 1:2] ** 2) * 3
y_cls = (x[:, 2] + x[:, 3] > 0).long()


class TwoTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 48), nn.ReLU())
        self.reg, self.cls = nn.Linear(48, 1), nn.Linear(48, 2)
        self.log_var = nn.Parameter(torch.zeros(2))

    def forward(self, x):
        h = self.body(x)
        return self.reg(h), self.cls(h)


model = TwoTask()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(12):
    for idx in torch.randperm(600).split(60):
        r, c = model(x[idx])
        l_reg = nn.functional.mse_loss(r, y_reg[idx])
        l_cls = nn.functional.cross_entropy(c, y_cls[idx])
        s = model.log_var
        loss = 0.5 * torch.exp(-s[0]) * l_reg + torch.exp(-s[1]) * l_cls + 0.5 * s.sum()
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 3 == 2:
        with torch.no_grad():
            r, c = model(x[600:])
        print(f"epoch {epoch + 1} mse {nn.functional.mse_loss(r, y_reg[600:]):.3f} "
              f"acc {(c.argmax(1) == y_cls[600:]).float().mean():.3f} total {loss.item():.3f}")
