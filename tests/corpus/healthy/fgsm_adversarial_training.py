import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(0)
d = load_digits()
X, Y = torch.tensor(d.data / 16.0).float(), torch.tensor(d.target)
perm = torch.randperm(len(X))
tr, te = perm[:1200], perm[1200:]
model = nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Dropout(0.1), nn.Linear(96, 10))
opt = torch.optim.Adam(model.parameters(), lr=3e-3)


def fgsm(x, y, eps):
    was_training = model.training
    model.eval()
    x = x.clone().requires_grad_(True)
    (g,) = torch.autograd.grad(F.cross_entropy(model(x), y), x)
    model.train(was_training)
    return (x + eps * g.sign()).clamp(0, 1).detach()


for epoch in range(4):
    model.train()
    for idx in tr[torch.randperm(len(tr))].split(80):
        x, y = X[idx], Y[idx]
        adv = fgsm(x, y, 0.05)
        loss = 0.5 * F.cross_entropy(model(x), y) + 0.5 * F.cross_entropy(model(adv), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    model.eval()
    robust = fgsm(X[te], Y[te], 0.05)
    with torch.no_grad():
        clean_acc = (model(X[te]).argmax(1) == Y[te]).float().mean().item()
        adv_acc = (model(robust).argmax(1) == Y[te]).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.5f} clean {clean_acc:.4f} adversarial {adv_acc:.4f}")
