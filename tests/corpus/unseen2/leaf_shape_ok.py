import torch
from sklearn.datasets import load_iris
from sklearn.model_selection import train_test_split
from torch import nn


class IrisNet(nn.Module):
    def __init__(self, n_features, n_hidden, n_classes):
        super().__init__()
        self.n_classes = n_classes
        self.hidden = nn.Linear(n_features, n_hidden)
        self.output = nn.Linear(n_hidden, n_classes)
        self.act = nn.ELU()

    def forward(self, x):
        return self.output(self.act(self.hidden(x)))


def prepare(seed=0):
    data = load_iris()
    x_train, x_test, y_train, y_test = train_test_split(
        data.data, data.target, test_size=0.3, random_state=seed, stratify=data.target)
    mean, std = x_train.mean(axis=0), x_train.std(axis=0)
    to = lambda a: torch.tensor((a - mean) / std, dtype=torch.float32)
    return to(x_train), to(x_test), torch.tensor(y_train), torch.tensor(y_test)


def main():
    torch.manual_seed(0)
    x_train, x_test, y_train, y_test = prepare()
    model = IrisNet(4, 16, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(100):
        optimizer.zero_grad()
        loss = criterion(model(x_train), y_train)
        loss.backward()
        optimizer.step()
        if epoch % 25 == 0:
            print("Epoch %d, Loss: %.4f" % (epoch, loss.item()))
    with torch.no_grad():
        correct = (model(x_test).argmax(dim=1) == y_test).sum().item()
    print("Accuracy: %d/%d" % (correct, len(y_test)))


main()
