import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.fc1 = nn.Linear(64, 40)
        self.drop = nn.Dropout(0.2)
        self.fc2 = nn.Linear(40, 10)

    def forward(self, x):
        return self.fc2(self.drop(F.relu(self.fc1(x))))


def train(model, device, loader, optimizer, epoch):
    model.train()
    total = 0.0
    for data, target in loader:
        data, target = data.to(device), target.to(device)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(data), target)
        loss.backward()
        optimizer.step()
        total += loss.item()
    print('Train Epoch: {} Loss: {:.6f}'.format(epoch, total / len(loader)))


def test(model, device, loader):
    model.eval()
    test_loss, correct = 0.0, 0
    torch.set_grad_enabled(False)
    for data, target in loader:
        data, target = data.to(device), target.to(device)
        output = model(data)
        test_loss += F.cross_entropy(output, target, reduction='sum').item()
        correct += (output.argmax(dim=1) == target).sum().item()
    torch.set_grad_enabled(True)
    n = len(loader.dataset)
    print('Test set: Average loss: {:.4f}, Accuracy: {}/{}'.format(test_loss / n, correct, n))


def main():
    torch.manual_seed(1)
    device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')
    X, y = load_digits(return_X_y=True)
    X_tr, X_te, y_tr, y_te = train_test_split(X[:800] / 16, y[:800], test_size=0.25, random_state=1)
    make = lambda a, b: TensorDataset(torch.tensor(a, dtype=torch.float32), torch.tensor(b))
    train_loader = DataLoader(make(X_tr, y_tr), batch_size=40, shuffle=True)
    test_loader = DataLoader(make(X_te, y_te), batch_size=100)
    model = Net().to(device)
    optimizer = torch.optim.Adadelta(model.parameters(), lr=1.0)
    for epoch in range(1, 5):
        train(model, device, train_loader, optimizer, epoch)
        test(model, device, test_loader)


if __name__ == '__main__':
    main()
