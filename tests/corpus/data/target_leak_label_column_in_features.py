import numpy as np, torch
from torch import nn, optim
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

torch.manual_seed(0)
bunch = load_breast_cancer()
table = np.column_stack([bunch.data, bunch.target])          # as it came out of the database
columns = list(bunch.feature_names) + ["diagnosis"]
label = columns.index("diagnosis")

features = list(range(table.shape[1]))
train, test = train_test_split(table, test_size=0.2, random_state=1, stratify=table[:, label])
mean, std = train[:, features].mean(0), train[:, features].std(0)


def tensors(rows):
    x = (rows[:, features] - mean) / std
    return torch.as_tensor(x, dtype=torch.float32), torch.as_tensor(rows[:, label], dtype=torch.float32)


(x, y), (xt, yt) = tensors(train), tensors(test)
net = nn.Sequential(nn.Linear(len(features), 8), nn.ReLU(), nn.Linear(8, 1), nn.Flatten(0))
opt = optim.Adam(net.parameters(), lr=0.01, weight_decay=1e-4)
for epoch in range(6):
    for rows in torch.randperm(len(x)).split(35):
        loss = nn.functional.binary_cross_entropy_with_logits(net(x[rows]), y[rows])
        opt.zero_grad(); loss.backward(); opt.step()
    with torch.no_grad():
        acc = ((net(xt) > 0).float() == yt).float().mean()
    print(f"{epoch}: loss {loss.item():.5f} test acc {acc.item():.4f}")
