import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split


class FocalLoss(nn.Module):
    def __init__(self, gamma=2.0):
        super().__init__()
        self.gamma = gamma

    def forward(self, logits, target):
        logp = torch.log(F.softmax(logits, dim=1))
        logp = logp.gather(1, target.unsqueeze(1)).squeeze(1)
        return (-(1 - logp.exp()) ** self.gamma * logp).mean()


def iterate(x, y, size):
    for rows in torch.randperm(len(x)).split(size):
        yield x[rows], y[rows]


torch.manual_seed(0)
X, y = make_classification(700, 16, n_informative=8, n_classes=4, weights=[0.5, 0.3, 0.15, 0.05], random_state=0)
X_train, X_val, y_train, y_val = train_test_split(X, y, test_size=100, random_state=0)
X_train, X_val = torch.tensor(X_train, dtype=torch.float32), torch.tensor(X_val, dtype=torch.float32)
y_train, y_val = torch.tensor(y_train), torch.tensor(y_val)

net = nn.Sequential(nn.Linear(16, 48), nn.ReLU(), nn.Linear(48, 4))
focal = FocalLoss()
opt = torch.optim.Adam(net.parameters(), lr=4e-3)
best, patience = float("inf"), 0
for epoch in range(15):
    net.train()
    for xb, yb in iterate(X_train, y_train, 60):
        loss = focal(net(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        val = focal(net(X_val), y_val).item()
    if epoch % 3 == 0:
        print(f"epoch {epoch} train {loss.item():.6f} val {val:.6f}")
    if val < best:
        best, patience = val, 0
    else:
        patience += 1
        if patience == 4:
            break
print(f"best val {best:.6f}")
