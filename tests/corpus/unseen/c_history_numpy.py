import numpy as np
import torch
from sklearn.datasets import load_diabetes
from sklearn.metrics import r2_score
from torch import nn

torch.manual_seed(0)


class Standardizer:
    def fit(self, a):
        self.m, self.s = a.mean(0), a.std(0)
        return self

    def __call__(self, a):
        return (a - self.m) / self.s


raw = load_diabetes()
X, y = raw.data.astype(np.float32), raw.target.astype(np.float32)
sx, sy = Standardizer().fit(X[:340]), Standardizer().fit(y[:340])
X_train, y_train = torch.from_numpy(sx(X[:340])), torch.from_numpy(sy(y[:340]))
X_val, y_val = torch.from_numpy(sx(X[340:])), sy(y[340:])

model = nn.Sequential(nn.Linear(10, 32), nn.ELU(), nn.Dropout(0.1), nn.Linear(32, 1))
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
huber = nn.HuberLoss()
history = {"loss": [], "r2": []}

for epoch in range(20):
    model.train()
    losses = []
    for idx in torch.randperm(340).split(34):
        optimizer.zero_grad()
        pred = model(X_train[idx]).squeeze(1)
        loss = huber(pred, y_train[idx])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    model.eval()
    val_pred = model(X_val).squeeze(1)
    history["loss"].append(float(np.mean(losses)))
    history["r2"].append(r2_score(y_val, val_pred.numpy()))
    if epoch % 5 == 0:
        print(f"epoch {epoch} loss {history['loss'][-1]:.4f} r2 {history['r2'][-1]:.4f}")
print("best r2", max(history["r2"]))
