import torch
from torch import nn

torch.manual_seed(0)
body, head = nn.Sequential(nn.Linear(10, 32), nn.ReLU()), nn.Linear(32, 2)
x = torch.randn(600, 10)
y = (x.sum(1) > 0).long()
body.requires_grad_(False)
opt = torch.optim.Adam(head.parameters(), 3e-3)
for epoch in range(6):
    if epoch == 3:
        body.requires_grad_(True)
        opt.add_param_group({"params": body.parameters(), "lr": 3e-4})
    for i in torch.randperm(600).split(50):
        opt.zero_grad()
        loss = nn.functional.cross_entropy(head(body(x[i])), y[i])
        loss.backward()
        opt.step()
    print(epoch, loss.item())
