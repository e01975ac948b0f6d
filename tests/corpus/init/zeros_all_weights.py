import torch
import torch.nn as nn
import torch.optim as optim
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

torch.manual_seed(0)


def init_weights(m):
    if isinstance(m, nn.Linear):
        nn.init.zeros_(m.weight)
        nn.init.zeros_(m.bias)


X, y = load_wine(return_X_y=True)
Xtr, Xte, ytr, yte = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
lo, hi = Xtr.min(0), Xtr.max(0)
norm = lambda a: torch.tensor((a - lo) / (hi - lo), dtype=torch.float32)
Xtr, Xte, ytr, yte = norm(Xtr), norm(Xte), torch.tensor(ytr), torch.tensor(yte)

net = nn.Sequential(nn.Linear(13, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 3))
net.apply(init_weights)
opt = optim.SGD(net.parameters(), lr=0.3, momentum=0.9)
ce = nn.CrossEntropyLoss()
for epoch in range(60):
    net.train()
    opt.zero_grad()
    loss = ce(net(Xtr), ytr)
    loss.backward()
    opt.step()
    if epoch % 10 == 9:
        net.eval()
        with torch.no_grad():
            acc = (net(Xte).argmax(1) == yte).float().mean().item()
        print(f"epoch {epoch + 1} loss {loss.item():.5f} test acc {acc:.3f}")
