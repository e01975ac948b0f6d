import torch
import torch.nn as nn

torch.manual_seed(8)
x = torch.randn(300, 5)
y = x.sum(dim=1).tanh()
y[torch.rand(300) < 0.3] = float("nan")

net = nn.Sequential(nn.Linear(5, 24), nn.ELU(), nn.Linear(24, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.8)
for epoch in range(10):
    for idx in torch.randperm(300).split(30):
        pred = net(x[idx]).squeeze(1)
        ok = y[idx].isfinite()
        if not ok.any():
            continue
        loss = nn.functional.mse_loss(pred[ok], y[idx][ok])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 2 == 0:
        print(f"epoch {epoch} mse {loss.item():.6f}")
print("mean of all labels:", torch.nanmean(y).item())
