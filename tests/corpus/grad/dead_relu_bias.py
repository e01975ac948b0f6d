import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


def init_weights(m):
    if isinstance(m, nn.Linear):
        nn.init.kaiming_normal_(m.weight, nonlinearity="relu")
        nn.init.constant_(m.bias, -10)


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(64, 64)
        self.fc2 = nn.Linear(64, 64)
        self.out = nn.Linear(64, 10)
        self.apply(init_weights)

    def forward(self, x):
        return self.out(F.relu(self.fc2(F.relu(self.fc1(x)))))


def main():
    torch.manual_seed(0)
    X, y = load_digits(return_X_y=True)
    X_tr, X_te, y_tr, y_te = train_test_split(X / 16.0, y, random_state=0)
    X_tr, X_te = torch.tensor(X_tr).float(), torch.tensor(X_te).float()
    y_tr, y_te = torch.tensor(y_tr), torch.tensor(y_te)

    net = MLP()
    opt = torch.optim.SGD(net.parameters(), lr=0.05)
    for epoch in range(5):
        net.train()
        for idx in torch.randperm(len(X_tr)).split(64):
            opt.zero_grad()
            loss = F.cross_entropy(net(X_tr[idx]), y_tr[idx])
            loss.backward()
            opt.step()
        net.eval()
        with torch.no_grad():
            acc = (net(X_te).argmax(1) == y_te).float().mean().item()
        print(f"epoch {epoch}: loss {loss.item():.5f}, test acc {acc:.4f}")


main()
