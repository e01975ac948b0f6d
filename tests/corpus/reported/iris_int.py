import torch
from sklearn.datasets import load_iris
from sklearn.model_selection import train_test_split
from torch import nn, optim


class IrisNet(nn.Module):
    def __int__(self, inputs, hidden, outputs):
        super().__init__()
        self.fc1 = nn.Linear(inputs, hidden)
        self.fc2 = nn.Linear(hidden, outputs)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))


def load():
    x, y = load_iris(return_X_y=True)
    x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=30, random_state=1, stratify=y)
    to_float = lambda a: torch.tensor(a, dtype=torch.float32)
    mean, std = x_train.mean(axis=0), x_train.std(axis=0)
    return (to_float((x_train - mean) / std), torch.tensor(y_train),
            to_float((x_test - mean) / std), torch.tensor(y_test))


if __name__ == "__main__":
    torch.manual_seed(26)
    x_train, y_train, x_test, y_test = load()
    net = IrisNet(4, 16, 3)
    optimizer = optim.SGD(net.parameters(), lr=0.1)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(20):
        for rows in torch.randperm(len(x_train)).split(24):
            optimizer.zero_grad()
            loss = criterion(net(x_train[rows]), y_train[rows])
            loss.backward()
            optimizer.step()
    with torch.no_grad():
        print("accuracy", (net(x_test).argmax(1) == y_test).float().mean().item())
