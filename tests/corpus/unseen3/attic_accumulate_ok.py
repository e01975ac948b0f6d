import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X = torch.randn(640, 8)
y = (X[:, 0] * X[:, 1] > 0).long()
loader = DataLoader(TensorDataset(X, y), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 2))
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
ACCUM = 4

for epoch in range(20):
    total, correct = 0.0, 0
    for i, (xb, yb) in enumerate(loader):
        logits = model(xb)
        loss = nn.functional.cross_entropy(logits, yb)
        (loss / ACCUM).backward()
        if (i + 1) % ACCUM == 0 or i + 1 == len(loader):
            opt.step()
            opt.zero_grad(set_to_none=True)
        total += loss.item() * len(xb)
        correct += (logits.argmax(1) == yb).sum().item()
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1} loss {total / 640:.4f} acc {correct / 640:.3f}")


@torch.no_grad()
def evaluate(net, n=400):
    net.eval()
    x = torch.randn(n, 8)
    target = (x[:, 0] * x[:, 1] > 0).long()
    out = net(x)
    net.train()
    return nn.functional.cross_entropy(out, target).item(), (out.argmax(1) == target).float().mean().item()


val_loss, val_acc = evaluate(model)
print(f"fresh data: loss {val_loss:.4f} acc {val_acc:.3f}")
