import torch
from sklearn.datasets import make_blobs
from sklearn.model_selection import train_test_split
from torch import nn, optim


class SoilNet(nn.Module):
    def __init__(self, n_features, n_classes):
        super().__init__()
        self.fc1 = nn.Linear(n_features, 40)
        self.fc2 = nn.Linear(40, n_classes)
        self.relu = nn.ReLU()

    def forward(self, x):
        return torch.log_softmax(self.fc2(self.relu(self.fc1(x))), dim=1)


def standardise(train, test):
    mu, sigma = train.mean(0), train.std(0)
    return (train - mu) / sigma, (test - mu) / sigma


def main():
    torch.manual_seed(33)
    X, y = make_blobs(n_samples=1500, n_features=5, centers=6, cluster_std=3.0, random_state=33)
    X_tr, X_te, y_tr, y_te = train_test_split(X, y, test_size=0.3, random_state=33)
    X_tr, X_te = standardise(X_tr, X_te)
    X_tr, X_te = torch.tensor(X_tr).float(), torch.tensor(X_te).float()
    y_tr, y_te = torch.tensor(y_tr), torch.tensor(y_te)

    net = SoilNet(5, 6)
    criterion = nn.NLLLoss()
    optimizer = optim.SGD(net.parameters(), lr=0.05)
    for epoch in range(15):
        epoch_loss = 0.0
        for idx in torch.randperm(len(X_tr)).split(50):
            optimizer.zero_grad()
            loss = criterion(net(X_tr[idx]), y_tr[idx])
            loss.backward()
            optimizer.step()
            epoch_loss += loss.item() * len(idx)
        print("epoch %2d loss %.4f" % (epoch + 1, epoch_loss / len(X_tr)))
    with torch.no_grad():
        print("test accuracy", (net(X_te).argmax(1) == y_te).float().mean().item())


if __name__ == "__main__":
    main()
