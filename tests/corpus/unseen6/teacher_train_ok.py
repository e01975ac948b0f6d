import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(1000, 16)
y = (x[:, :5].sum(1) > 0).long() + 2 * (x[:, 5:9].sum(1) > 0).long()
teacher = nn.Sequential(nn.Linear(16, 128), nn.ReLU(), nn.Dropout(0.5), nn.Linear(128, 4))
opt = torch.optim.Adam(teacher.parameters(), 3e-3)
for _ in range(8):
    for i in torch.randperm(1000).split(50):
        opt.zero_grad()
        F.cross_entropy(teacher(x[i]), y[i]).backward()
        opt.step()
teacher.eval()
for p in teacher.parameters():
    p.requires_grad_(False)
student = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 4))
opt = torch.optim.Adam(student.parameters(), 3e-3)
for epoch in range(8):
    for i in torch.randperm(1000).split(50):
        with torch.no_grad():
            t = teacher(x[i])
        s = student(x[i])
        loss = F.kl_div(F.log_softmax(s / 3, 1), F.softmax(t / 3, 1), reduction="batchmean") * 9
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item(), (student(x).argmax(1) == y).float().mean().item())
