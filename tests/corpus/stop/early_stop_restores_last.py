import torch
from torch import nn
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

torch.manual_seed(1)
X, y = load_diabetes(return_X_y=True)
Xtr, Xva, ytr, yva = train_test_split(X, y, test_size=0.5, random_state=2)
mx, sx, my, sy = Xtr.mean(0), Xtr.std(0), ytr.mean(), ytr.std()
f = lambda a: torch.tensor(a, dtype=torch.float32)
Xtr, Xva = f((Xtr - mx) / sx), f((Xva - mx) / sx)
ytr, yva = f((ytr - my) / sy), f((yva - my) / sy)

net = nn.Sequential(nn.Linear(10, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 1))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
mse = nn.MSELoss()


def val():
    net.eval()
    with torch.no_grad():
        return mse(net(Xva).squeeze(1), yva).item()


best_val, patience, wait = float("inf"), 5, 0
for epoch in range(20):
    net.train()
    for i in torch.randperm(len(Xtr)).split(44):
        opt.zero_grad()
        loss = mse(net(Xtr[i]).squeeze(1), ytr[i])
        loss.backward()
        opt.step()
    v = val()
    print(f"{epoch:2d} train {loss.item():.4f} val {v:.4f}")
    torch.save(net.state_dict(), "best.pt")
    if v < best_val:
        best_val, wait = v, 0
    else:
        wait += 1
        if wait >= patience:
            break

net.load_state_dict(torch.load("best.pt"))
print(f"best val {best_val:.4f}  final val {val():.4f}")
