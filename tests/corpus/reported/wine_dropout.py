"""Classify wine by its chemical analysis."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split


class WineNet(nn.Module):
    def __init__(self, p=0.5):
        super().__init__()
        self.fc1 = nn.Linear(13, 32)
        self.fc2 = nn.Linear(32, 16)
        self.fc3 = nn.Linear(16, 3)
        self.p = p

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = F.dropout(x, p=self.p)
        x = F.relu(self.fc2(x))
        return self.fc3(x)


def standardize(train, test):
    mean, std = train.mean(axis=0), train.std(axis=0)
    return (train - mean) / std, (test - mean) / std


def main():
    torch.manual_seed(5)
    x, y = load_wine(return_X_y=True)
    x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.4, random_state=5, stratify=y)
    x_train, x_test = standardize(x_train, x_test)
    x_train, x_test = torch.tensor(x_train).float(), torch.tensor(x_test).float()
    y_train, y_test = torch.tensor(y_train), torch.tensor(y_test)

    net = WineNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
    for epoch in range(1, 41):
        net.train()
        perm = torch.randperm(len(x_train))
        for start in range(0, len(perm), 20):
            idx = perm[start : start + 20]
            loss = F.cross_entropy(net(x_train[idx]), y_train[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if epoch % 10 == 0:
            net.eval()
            with torch.no_grad():
                logits = net(x_test)
                again = net(x_test)
            acc = (logits.argmax(1) == y_test).float().mean().item()
            changed = (logits.argmax(1) != again.argmax(1)).sum().item()
            print(f"epoch {epoch}: loss {loss.item():.3f} accuracy {acc:.3f} unstable predictions {changed}")


if __name__ == "__main__":
    main()
