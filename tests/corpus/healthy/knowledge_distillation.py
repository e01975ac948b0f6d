import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(1)
x_all = torch.randn(192, 8)
y_all = (x_all[:, 0] + 0.5 * x_all[:, 1] > 0).long()

teacher = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 2))
fit = torch.optim.Adam(teacher.parameters(), lr=1e-2)
for _ in range(10):
    fit.zero_grad()
    F.cross_entropy(teacher(x_all[:160]), y_all[:160]).backward()
    fit.step()
teacher.eval()
student = nn.Linear(8, 2)
opt = torch.optim.SGD(student.parameters(), lr=0.1)
for epoch in range(3):
    for rows in torch.randperm(160).split(32):
        x, y = x_all[rows], y_all[rows]
        with torch.no_grad():
            soft = F.log_softmax(teacher(x) / 2, dim=1)
        out = student(x)
        kd = F.kl_div(F.log_softmax(out / 2, dim=1), soft, reduction="batchmean", log_target=True) * 4
        loss = 0.5 * F.cross_entropy(out, y) + 0.5 * kd
        opt.zero_grad()
        loss.backward()
        opt.step()
print(loss.item())
