import torch
import torch.nn as nn
from sklearn.metrics import f1_score
from torch.utils.data import DataLoader, TensorDataset


def evaluate(model, loader):
    model.eval()
    predicted, expected = [], []
    with torch.no_grad():
        for x, y in loader:
            predicted = model(x).argmax(1).tolist()
            expected.extend(y.tolist())
    model.train()
    return f1_score(expected, predicted, average="macro")


torch.manual_seed(0)
x = torch.randn(200, 4)
y = x[:, :3].argmax(1)
train = DataLoader(TensorDataset(x[:150], y[:150]), batch_size=25, shuffle=True)
test = DataLoader(TensorDataset(x[150:], y[150:]), batch_size=25)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(3):
    for xb, yb in train:
        loss = nn.functional.cross_entropy(model(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, evaluate(model, test))
