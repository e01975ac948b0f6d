# Predict disease progression from the diabetes table and report r2
import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_diabetes
from sklearn.metrics import r2_score
from sklearn.model_selection import train_test_split

torch.manual_seed(0)
np.random.seed(0)

X, y = load_diabetes(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=0)
x_mu, x_sd = X_train.mean(0), X_train.std(0)
y_mu, y_sd = y_train.mean(), y_train.std()

Xt = torch.tensor((X_train - x_mu) / x_sd).float()
yt = torch.tensor((y_train - y_mu) / y_sd).float().unsqueeze(1)
Xv = torch.tensor((X_test - x_mu) / x_sd).float()

reg = nn.Sequential(nn.Linear(10, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.AdamW(reg.parameters(), lr=3e-3, weight_decay=1e-2)
loss_fn = nn.MSELoss()

history = []
for epoch in range(40):
    order = torch.randperm(len(Xt))
    epoch_pred = np.zeros((len(Xt), 1), dtype=np.float32)
    for idx in order.split(32):
        pred = reg(Xt[idx])
        loss = loss_fn(pred, yt[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        epoch_pred[idx.numpy()] = pred.detach().numpy()
    r2 = r2_score(yt.numpy(), epoch_pred)
    history.append(r2)
    if (epoch + 1) % 10 == 0:
        print(f"epoch {epoch + 1:2d}  train r2 {r2:.3f}")

reg.eval()
with torch.no_grad():
    test_pred = reg(Xv).squeeze(1).numpy() * y_sd + y_mu
print("test r2:", r2_score(y_test, test_pred))
print("test rmse:", float(np.sqrt(((test_pred - y_test) ** 2).mean())))
