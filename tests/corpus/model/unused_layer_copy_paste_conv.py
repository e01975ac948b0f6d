import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits

torch.manual_seed(77)


class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 16, 3, padding=1)
        self.conv3 = nn.Conv2d(16, 16, 3, padding=1)
        self.fc1 = nn.Linear(64, 32)
        self.fc2 = nn.Linear(32, 10)

    def forward(self, x):
        x = F.relu(self.conv1(x))
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = torch.flatten(x, 1)
        x = F.relu(self.fc1(x))
        return self.fc2(x)


def main():
    digits = load_digits()
    x = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16.
    y = torch.tensor(digits.target, dtype=torch.long)
    x_train, y_train, x_val, y_val = x[:960], y[:960], x[960:1200], y[960:1200]
    net = Net()
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    for epoch in range(4):
        net.train()
        order = torch.randperm(len(x_train))
        for k in range(0, len(order), 64):
            pick = order[k:k + 64]
            optimizer.zero_grad()
            loss = F.cross_entropy(net(x_train[pick]), y_train[pick])
            loss.backward()
            optimizer.step()
        net.eval()
        with torch.no_grad():
            acc = (net(x_val).argmax(1) == y_val).double().mean().item()
        print("epoch {} loss {:.5f} acc {:.4f}".format(epoch, loss.item(), acc))


if __name__ == '__main__':
    main()
