import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
d = load_digits()
X = torch.tensor(d.data / 16.0, dtype=torch.float32, device=device)
Y = torch.tensor(d.target, device=device)
idx = torch.randperm(len(X), device=device)
tr, te = idx[:1000], idx[1000:1400]


def loop(model, loss_of, lr, epochs):
    opt = torch.optim.Adam(model.parameters(), lr=lr)
    for epoch in range(epochs):
        model.train()
        for b in tr[torch.randperm(len(tr), device=device)].split(50):
            loss = loss_of(model(X[b]), b)
            opt.zero_grad()
            loss.backward()
            opt.step()
        model.eval()
        with torch.no_grad():
            acc = (model(X[te]).argmax(1) == Y[te]).float().mean()
        print(f"  epoch {epoch} loss {loss.item():.5f} acc {acc.item():.4f}")


def build(width):
    return nn.Sequential(nn.Linear(64, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Dropout(0.3), nn.Linear(width, 10)).to(device)


print("teacher")
big = build(128)
loop(big, lambda out, b: F.cross_entropy(out, Y[b]), 5e-3, 2)
torch.save(big.state_dict(), "teacher.pt")

print("student")
teacher = build(128)
teacher.load_state_dict(torch.load("teacher.pt", weights_only=True))
teacher.requires_grad_(False)
T, alpha = 3.0, 0.7


def kd_loss(out, b):
    with torch.no_grad():
        soft = F.softmax(teacher(X[b]) / T, dim=1)
    kl = F.kl_div(F.log_softmax(out / T, dim=1), soft, reduction="batchmean") * T * T
    return alpha * kl + (1 - alpha) * F.cross_entropy(out, Y[b])


loop(build(16), kd_loss, 5e-3, 3)
