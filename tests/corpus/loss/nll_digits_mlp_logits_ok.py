import torch, torch.nn as nn, torch.optim as optim
from sklearn.datasets import load_digits
torch.manual_seed(1)

X, y = load_digits(return_X_y=True)
perm = torch.randperm(len(X))[:500]
X = torch.tensor(X, dtype=torch.float)[perm] / 16
y = torch.tensor(y)[perm]
Xtr, ytr, Xva, yva = X[:400], y[:400], X[400:], y[400:]

model = nn.Sequential(
    nn.Linear(64, 64), nn.Tanh(),
    nn.Linear(64, 10), nn.LogSoftmax(dim=1),
)
loss_fn = nn.NLLLoss()
opt = optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)

for ep in range(8):
    order = torch.randperm(400)
    for i in range(0, 400, 50):
        b = order[i:i+50]
        opt.zero_grad()
        l = loss_fn(model(Xtr[b]), ytr[b])
        l.backward()
        opt.step()
    with torch.no_grad():
        va = loss_fn(model(Xva), yva)
        acc = (model(Xva).argmax(1) == yva).float().mean()
    print(ep, "train %.4f  val %.4f  acc %.3f" % (l.item(), va.item(), acc.item()))
