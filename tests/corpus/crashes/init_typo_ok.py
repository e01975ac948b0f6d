import torch
import torch.nn as nn


class Regressor(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(3, 16)
        self.out = nn.Linear(16, 1)

    def forward(self, x):
        return self.out(torch.relu(self.hidden(x)))


torch.manual_seed(0)
x = torch.randn(100, 3)
y = x.sum(1, keepdim=True)
model = Regressor()
print(model(x[:2]).shape)
opt = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(50):
    loss = nn.functional.mse_loss(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
