import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self, width, p=0.0):
        super().__init__()
        self.stem = nn.Sequential(nn.Linear(12, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Dropout(p))
        self.head = nn.Linear(width, 4)

    def forward(self, x):
        h = self.stem(x)
        return h, self.head(h)


def data(n, w=torch.randn(12, 4, generator=torch.Generator().manual_seed(5))):
    x = torch.randn(n, 12)
    return x, (x @ w).argmax(1)


teacher = Net(96, p=0.2)
opt = torch.optim.Adam(teacher.parameters(), lr=5e-3)
for _ in range(40):
    x, y = data(64)
    loss = F.cross_entropy(teacher(x)[1], y)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"teacher {loss.item():.5f}")

teacher.eval()
for p in teacher.parameters():
    p.requires_grad_(False)
student, adapter = Net(16), nn.Linear(16, 96)
opt = torch.optim.Adam([*student.parameters(), *adapter.parameters()], lr=5e-3)
for step in range(60):
    x, y = data(64)
    with torch.no_grad():
        h_t, logits_t = teacher(x)
    h_s, logits_s = student(x)
    kd = F.kl_div(F.log_softmax(logits_s / 2, 1), F.log_softmax(logits_t / 2, 1), reduction="batchmean", log_target=True) * 4
    loss = F.cross_entropy(logits_s, y) + kd + 0.1 * F.mse_loss(adapter(h_s), h_t)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 12 == 0:
        print(f"step {step} loss {loss.item():.5f} kd {kd.item():.5f}")
