import torch
import torch.nn as nn


def get_model(train=True):
    net = nn.Sequential(nn.Linear(5, 10), nn.ReLU(), nn.Linear(10, 2))
    if train:
        net = net.train()
    return net


torch.manual_seed(0)
x = torch.randn(80, 5)
y = (x[:, 1] > 0).long()
model = get_model()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(4):
    loss = nn.functional.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
