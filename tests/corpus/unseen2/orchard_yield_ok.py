import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import make_regression
from sklearn.model_selection import train_test_split


class YieldNet(nn.Module):
    def __init__(self, n_in=12, width=96, p=0.25):
        super().__init__()
        self.p = p
        self.fc1 = nn.Linear(n_in, width)
        self.fc2 = nn.Linear(width, width)
        self.fc3 = nn.Linear(width, 1)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = F.dropout(x, self.p, training=self.training)
        x = F.relu(self.fc2(x))
        return self.fc3(x).squeeze(-1)


def load():
    X, y = make_regression(n_samples=1200, n_features=12, n_informative=8, noise=5.0, random_state=2)
    X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.25, random_state=2)
    m, s = y_tr.mean(), y_tr.std()
    to = lambda a: torch.tensor(a, dtype=torch.float32)
    return to(X_tr), to(X_te), to((y_tr - m) / s), to((y_te - m) / s)


torch.manual_seed(2)
X_tr, X_te, y_tr, y_te = load()
model = YieldNet()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)

for epoch in range(30):
    model.train()
    for idx in torch.randperm(len(X_tr)).split(50):
        loss = F.mse_loss(model(X_tr[idx]), y_tr[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 6 == 5:
        model.eval()
        with torch.no_grad():
            print(f"epoch {epoch + 1} train {loss.item():.4f} test {F.mse_loss(model(X_te), y_te).item():.4f}")

model.eval()
with torch.no_grad():
    a, b = model(X_te), model(X_te)
print("first predictions ", [round(v, 3) for v in a[:4].tolist()])
print("second predictions", [round(v, 3) for v in b[:4].tolist()])
