import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

torch.manual_seed(0)
X, y = load_digits(return_X_y=True)
X = X / 16.0


def loaders(X, y, seed):
    a, b, c, d = train_test_split(X, y, test_size=0.25, random_state=seed)
    to = lambda v, t: torch.tensor(v, dtype=t)
    return (to(a, torch.float32), to(c, torch.long)), (to(b, torch.float32), to(d, torch.long))


class Net(nn.Module):
    def __init__(self, n_out):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU())
        self.fc = nn.Linear(32, n_out)

    def forward(self, x):
        return self.fc(self.backbone(x))


def fit(model, opt, train, epochs):
    x, t = train
    for ep in range(epochs):
        tot = 0.0
        for idx in torch.randperm(len(x)).split(50):
            opt.zero_grad()
            loss = F.cross_entropy(model(x[idx]), t[idx])
            loss.backward()
            opt.step()
            tot += loss.item() * len(idx)
        print(f"  epoch {ep}: {tot / len(x):.5f}")


# pre-training: odd or even
train, test = loaders(X, y % 2, seed=0)
model = Net(2)
print("pretrain")
fit(model, torch.optim.Adam(model.parameters(), lr=3e-3), train, 2)

# transfer: ten classes
train, test = loaders(X, y, seed=0)
model.fc = nn.Linear(32, 10)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
print("finetune")
fit(model, optimizer, train, 4)
model.eval()
with torch.no_grad():
    print("test acc", round((model(test[0]).argmax(1) == test[1]).float().mean().item(), 4))
