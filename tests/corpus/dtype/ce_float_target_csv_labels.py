import io
import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_iris

torch.manual_seed(30)

# the table as exported: four measurements and the species code
iris = load_iris()
buf = io.StringIO()
np.savetxt(buf, np.column_stack([iris.data, iris.target]), delimiter=",", fmt="%.2f")
table = np.loadtxt(io.StringIO(buf.getvalue()), delimiter=",", dtype=np.float32)

rng = np.random.default_rng(30)
rng.shuffle(table)
train, val = table[:120], table[120:]
mean, std = train[:, :4].mean(0), train[:, :4].std(0)


def to_tensors(rows):
    x = torch.tensor((rows[:, :4] - mean) / std)
    y = torch.tensor(rows[:, 4])
    return x, y


x_train, y_train = to_tensors(train)
x_val, y_val = to_tensors(val)

net = nn.Sequential(nn.Linear(4, 20), nn.ELU(), nn.Linear(20, 3))
opt = torch.optim.Adam(net.parameters(), lr=0.02)
ce = nn.CrossEntropyLoss()

for epoch in range(15):
    for idx in torch.randperm(120).split(40):
        opt.zero_grad()
        loss = ce(net(x_train[idx]), y_train[idx])
        loss.backward()
        opt.step()
    with torch.no_grad():
        logits = net(x_val)
        val_loss = ce(logits, y_val)
        acc = (logits.argmax(1) == y_val).float().mean()
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1}: val_loss {val_loss:.6f} acc {acc:.3f}")
