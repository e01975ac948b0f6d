import torch
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
X, y = load_wine(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
sc = StandardScaler().fit(X_train)
X_train = torch.tensor(sc.transform(X_train), dtype=torch.float32)
X_test = torch.tensor(sc.transform(X_test), dtype=torch.float32)
y_train, y_test = torch.tensor(y_train), torch.tensor(y_test)


class WineNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(13, 20)
        self.output = nn.Linear(20, 3)
        self.act = nn.ReLU()
        self.log_softmax = nn.LogSoftmax(dim=0)

    def forward(self, x):
        x = self.act(self.hidden(x))
        return self.log_softmax(self.output(x))


net = WineNet()
loss_fn = nn.NLLLoss()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
loader = DataLoader(TensorDataset(X_train, y_train), batch_size=31, shuffle=True)

for epoch in range(12):
    net.train()
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = loss_fn(net(xb), yb)
        loss.backward()
        optimizer.step()
    if (epoch + 1) % 3 == 0:
        net.eval()
        with torch.no_grad():
            test_acc = (net(X_test).argmax(1) == y_test).float().mean()
        print(f"Epoch {epoch + 1}, loss {loss.item():.4f}, test acc {test_acc.item():.4f}")
