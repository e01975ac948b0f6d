import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(1000, 12)
y = (x[:, :4].sum(1) > 0).long() + (x[:, 4:8].sum(1) > 0).long()
teacher = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 3))
student = nn.Sequential(nn.Linear(12, 8), nn.ReLU(), nn.Linear(8, 3))
opt = torch.optim.Adam(teacher.parameters(), 5e-3)
for epoch in range(5):
    for i in torch.randperm(1000).split(50):
        loss = F.cross_entropy(teacher(x[i]), y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
teacher.eval()
opt = torch.optim.Adam(student.parameters(), 5e-3)
T, alpha = 2.0, 0.7
for epoch in range(6):
    for i in torch.randperm(1000).split(50):
        with torch.no_grad():
            soft = F.softmax(teacher(x[i]) / T, 1)
        out = student(x[i])
        kd = F.kl_div(F.softmax(out / T, 1), soft, reduction="batchmean") * T * T
        loss = alpha * kd + (1 - alpha) * F.cross_entropy(out, y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item(), (student(x).argmax(1) == y).float().mean().item())
