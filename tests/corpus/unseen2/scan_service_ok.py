import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(23)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(64, 50)
        self.fc2 = nn.Linear(50, 10)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = self.fc2(x)
        return F.log_softmax(x, dim=1)


def split():
    X, y = load_digits(return_X_y=True)
    X_tr, X_te, y_tr, y_te = train_test_split(X / 16.0, y, test_size=0.25, random_state=23)
    f = lambda a: torch.tensor(a, dtype=torch.float32)
    return TensorDataset(f(X_tr), torch.tensor(y_tr)), TensorDataset(f(X_te), torch.tensor(y_te))


train_set, test_set = split()
train_loader = DataLoader(train_set, batch_size=100, shuffle=True)
test_loader = DataLoader(test_set, batch_size=100)

model = Classifier()
optimizer = torch.optim.Adam(model.parameters(), lr=0.005)

for epoch in range(12):
    model.train()
    tot = 0.0
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = F.nll_loss(model(x), y)
        loss.backward()
        optimizer.step()
        tot += loss.item()
    model.eval()
    correct = 0
    with torch.no_grad():
        for x, y in test_loader:
            correct += model(x).argmax(dim=1).eq(y).sum().item()
    print(f"epoch {epoch}  loss {tot / len(train_loader):.4f}  acc {correct / len(test_set):.4f}")

# classify some scans one at a time, as the service does
hits = 0
with torch.no_grad():
    for i in range(50):
        x, y = test_set[i]
        hits += int(model(x.unsqueeze(0)).argmax(dim=1).item() == y.item())
print(f"single scans: {hits}/50 right")
