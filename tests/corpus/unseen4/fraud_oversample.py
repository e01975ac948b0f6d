import numpy as np
import torch
from torch import nn
from sklearn.datasets import make_classification
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split
from sklearn.utils import resample

torch.manual_seed(7)
X, y = make_classification(n_samples=1200, n_features=20, n_informative=4, n_redundant=0, weights=[0.93],
                           flip_y=0.06, class_sep=0.5, random_state=7)
X = X.astype(np.float32)


def balance(X, y):
    pos, neg = np.where(y == 1)[0], np.where(y == 0)[0]
    extra = resample(pos, replace=True, n_samples=len(neg) - len(pos), random_state=7)
    keep = np.concatenate([pos, neg, extra])
    return X[keep], y[keep]


X, y = balance(X, y)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=7)
print("train", X_train.shape, "test", X_test.shape, "positives in test", int(y_test.sum()))

xt, yt = torch.from_numpy(X_train), torch.from_numpy(y_train).float()
xv = torch.from_numpy(X_test)
net = nn.Sequential(nn.Linear(20, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 1))
opt = torch.optim.Adam(net.parameters(), lr=2e-3)
bce = nn.BCEWithLogitsLoss()
for epoch in range(30):
    net.train()
    for idx in torch.randperm(len(xt)).split(64):
        loss = bce(net(xt[idx]).squeeze(1), yt[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 10 == 9:
        net.eval()
        with torch.no_grad():
            pred = (net(xv).squeeze(1) > 0).long().numpy()
        print(f"epoch {epoch + 1}: loss {loss.item():.4f}  f1 {f1_score(y_test, pred):.3f}")
