import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(19)
d = load_digits()
x, y = torch.tensor(d.data / 16, dtype=torch.float32), torch.tensor(d.target)
perm = torch.randperm(len(x))
tr, te = perm[:1300], perm[1300:]
teacher = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, 10))
student = nn.Sequential(nn.Linear(64, 12), nn.ReLU(), nn.Linear(12, 10))
TEMP, ALPHA = 3.0, 0.7


def test_accuracy(net):
    net.eval()
    with torch.no_grad():
        return (net(x[te]).argmax(1) == y[te]).float().mean().item()


def fit(net, loss_fn, epochs):
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    for epoch in range(epochs):
        net.train()
        for idx in tr[torch.randperm(len(tr))].split(50):
            loss = loss_fn(net(x[idx]), idx)
            opt.zero_grad()
            loss.backward()
            opt.step()
    print(f"loss {loss.item():.4f} accuracy {test_accuracy(net):.3f}")


def distill(logits, idx):
    with torch.no_grad():
        soft = F.softmax(teacher(x[idx]) / TEMP, dim=1)
    kd = F.kl_div(F.log_softmax(logits / TEMP, dim=1), soft, reduction="batchmean") * TEMP ** 2
    return ALPHA * kd + (1 - ALPHA) * F.cross_entropy(logits, y[idx])


fit(teacher, lambda out, idx: F.cross_entropy(out, y[idx]), 8)
teacher.eval()
fit(student, distill, 10)
