import torch
import torch.nn as nn
import torch.optim as optim

torch.manual_seed(31)

BASE_LR = 0.02
EPOCHS = 12


def lr_lambda(epoch):
    return BASE_LR * 0.9 ** epoch


# two interleaved spirals
n = 150
theta = torch.linspace(0.3, 2.2, n) * 3.14159
arm = torch.stack([theta * theta.cos(), theta * theta.sin()], dim=1) / 7
points = torch.cat([arm, -arm]) + 0.01 * torch.randn(2 * n, 2)
labels = torch.cat([torch.zeros(n), torch.ones(n)])

net = nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
optimizer = optim.Adam(net.parameters(), lr=BASE_LR)
scheduler = optim.lr_scheduler.LambdaLR(optimizer, lr_lambda=lr_lambda)
criterion = nn.BCEWithLogitsLoss()

for epoch in range(EPOCHS):
    shuffled = torch.randperm(2 * n)
    for chunk in shuffled.chunk(6):
        optimizer.zero_grad()
        loss = criterion(net(points[chunk]).squeeze(-1), labels[chunk])
        loss.backward()
        optimizer.step()
    scheduler.step()
    if epoch % 3 == 0:
        print(f"epoch {epoch:2d}, loss {loss.item():.5f}")
