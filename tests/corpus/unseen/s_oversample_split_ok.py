import numpy as np
import torch
import torch.nn as nn
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split

rng = np.random.default_rng(3)
torch.manual_seed(3)


def patients(n):
    x = rng.normal(size=(n, 25)).astype(np.float32)
    risk = x[:, 0] + 0.5 * x[:, 1] + 1.5 * rng.normal(size=n)
    return x, (risk > 2.3).astype(np.int64)


def oversample(x, y):
    pos = np.flatnonzero(y == 1)
    extra = rng.choice(pos, size=(y == 0).sum() - len(pos), replace=True)
    return np.concatenate([x, x[extra]]), np.concatenate([y, y[extra]])


def fit(x, y, epochs=40):
    model = nn.Sequential(nn.Linear(25, 64), nn.ReLU(), nn.Linear(64, 2))
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    x, y = torch.from_numpy(x), torch.from_numpy(y)
    for epoch in range(epochs):
        for idx in torch.randperm(len(x)).split(100):
            opt.zero_grad()
            loss = nn.functional.cross_entropy(model(x[idx]), y[idx])
            loss.backward()
            opt.step()
        if epoch % 10 == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}")
    return model


def score(model, x, y):
    with torch.no_grad():
        pred = model(torch.from_numpy(x)).argmax(1).numpy()
    return f1_score(y, pred)


x, y = patients(500)
x_train, x_val, y_train, y_val = train_test_split(x, y, test_size=0.25, random_state=0, stratify=y)
x_train, y_train = oversample(x_train, y_train)
model = fit(x_train, y_train)
x_new, y_new = patients(1000)
print(f"validation F1 {score(model, x_val, y_val):.3f}")
print(f"F1 on the patients of the next year {score(model, x_new, y_new):.3f}")
