import torch
import torch.nn as nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(5, 3)

    def forward(self, x):
        return self.net(x)

    def penalty(self):
        return self.net.weight.abs().sum()


torch.manual_seed(0)
model = nn.DataParallel(Tagger())
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(90, 5)
y = x[:, :3].argmax(1)
for epoch in range(10):
    loss = nn.functional.cross_entropy(model(x), y)
    loss = loss + 1e-3 * model.module.penalty()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
