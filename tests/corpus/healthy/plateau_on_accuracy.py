import torch
import torch.nn as nn
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

torch.manual_seed(0)
X, y = load_wine(return_X_y=True)
Xtr, Xva, ytr, yva = train_test_split(X, y, test_size=0.3, random_state=3, stratify=y)
mu, sd = Xtr.mean(0), Xtr.std(0)
Xtr, Xva = torch.tensor((Xtr - mu) / sd).float(), torch.tensor((Xva - mu) / sd).float()
ytr, yva = torch.tensor(ytr), torch.tensor(yva)

net = nn.Sequential(nn.Linear(13, 24), nn.ReLU(), nn.Linear(24, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
sched = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, mode="max", factor=0.5, patience=2)
for epoch in range(14):
    net.train()
    for idx in torch.randperm(len(Xtr)).split(31):
        loss = nn.functional.cross_entropy(net(Xtr[idx]), ytr[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        val_acc = (net(Xva).argmax(1) == yva).float().mean().item()
    sched.step(val_acc)
    if epoch % 3 == 0:
        print(f"epoch {epoch:2d} loss {loss.item():.5f} acc {val_acc:.4f} lr {opt.param_groups[0]['lr']:.4f}")
