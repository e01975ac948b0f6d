import numpy as np, torch, torch.nn as nn
from sklearn.datasets import load_breast_cancer

np.random.seed(0); torch.manual_seed(0)
data = load_breast_cancer()
feats, target = data.data, data.target
perm = np.random.permutation(len(feats))
X = feats[perm]
t = target[perm]
n = 430
mu, sd = X[:n].mean(0), X[:n].std(0)
X = torch.tensor((X - mu) / sd, dtype=torch.float32)
t = torch.tensor(t, dtype=torch.float32)
Xtr, ttr, Xte, tte = X[:n], t[:n], X[n:], t[n:]

clf = nn.Sequential(nn.Linear(30, 16), nn.ReLU(), nn.Linear(16, 1))
opt = torch.optim.Adam(clf.parameters(), lr=1e-2)
lossf = nn.BCEWithLogitsLoss()
for ep in range(8):
    clf.train()
    for s in torch.randperm(n).split(43):
        opt.zero_grad()
        l = lossf(clf(Xtr[s])[:, 0], ttr[s])
        l.backward()
        opt.step()
    clf.eval()
    with torch.no_grad():
        z = clf(Xte)[:, 0]
        print(f"{ep} loss {l.item():.5f} test loss {lossf(z, tte).item():.5f} acc {((z > 0) == (tte > 0)).float().mean().item():.3f}")
