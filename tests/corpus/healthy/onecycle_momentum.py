import argparse
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

p = argparse.ArgumentParser()
p.add_argument("--epochs", type=int, default=5)
p.add_argument("--max-lr", type=float, default=0.3)
args = p.parse_args()

torch.manual_seed(0)
x = torch.randn(500, 10)
y = ((x[:, :5].abs().sum(1) - x[:, 5:].abs().sum(1)) > 0).long()
train_set, val_set = random_split(TensorDataset(x, y), [400, 100])
loader = DataLoader(train_set, batch_size=40, shuffle=True)
val_loader = DataLoader(val_set, batch_size=100)
net = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=args.max_lr, epochs=args.epochs, steps_per_epoch=len(loader))
for epoch in range(args.epochs):
    net.train()
    for xb, yb in loader:
        loss = nn.functional.cross_entropy(net(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
    net.eval()
    with torch.no_grad():
        acc = sum((net(a).argmax(1) == b).sum().item() for a, b in val_loader) / len(val_set)
    print(f"epoch {epoch} loss {loss.item():.5f} acc {acc:.3f} lr {opt.param_groups[0]['lr']:.6f}")
