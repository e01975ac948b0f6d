import torch
from torch import nn, optim

torch.manual_seed(0)
N, D = 300, 6
x = torch.randn(N, D)
true_w = torch.tensor([1.5, -2.0, 0.5, 0.0, 3.0, -1.0])
y = (x @ true_w).unsqueeze(1) + 0.1 * torch.randn(N, 1)

model = nn.Linear(D, 1)
optimizer = optim.SGD(model.parameters(), lr=0.1)
scheduler = optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
loss_fn = nn.MSELoss()

for epoch in range(10):
    scheduler.step()
    permutation = torch.randperm(N)
    for i in range(0, N, 60):
        indices = permutation[i:i + 60]
        optimizer.zero_grad()
        loss = loss_fn(model(x[indices]), y[indices])
        loss.backward()
        optimizer.step()
    print("Epoch: %d | Loss: %.6f | LR: %.6f" % (epoch, loss.item(), optimizer.param_groups[0]["lr"]))

print("weights:", [round(v, 3) for v in model.weight.detach().flatten().tolist()])
