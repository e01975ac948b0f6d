import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

device = torch.device('cuda:0' if torch.cuda.is_available() else 'cpu')


class Shapes(Dataset):
    """16x16 pictures of bars: horizontal, vertical or both."""

    def __init__(self, n, seed):
        rng = np.random.RandomState(seed)
        self.labels = rng.randint(0, 3, size=n)
        self.imgs = rng.normal(0, 0.2, size=(n, 1, 16, 16)).astype('float32')
        for i, c in enumerate(self.labels):
            r = rng.randint(2, 14)
            if c in (0, 2):
                self.imgs[i, 0, r, :] += 1
            if c in (1, 2):
                self.imgs[i, 0, :, r] += 1

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return torch.from_numpy(self.imgs[i]), int(self.labels[i])


class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.conv1 = nn.Conv2d(1, 6, 3, padding=1)
        self.pool = nn.MaxPool2d(2, 2)
        self.conv2 = nn.Conv2d(6, 16, 3, padding=1)
        self.fc1 = nn.Linear(16 * 4 * 4, 32)
        self.fc2 = nn.Linear(32, 3)

    def forward(self, x):
        x = self.pool(F.relu(self.conv1(x)))
        x = self.pool(F.relu(self.conv2(x)))
        x = x.view(-1, 16 * 4 * 4)
        x = F.relu(self.fc1(x))
        return self.fc2(x)


def train():
    torch.manual_seed(5)
    loader = DataLoader(Shapes(512, 0), batch_size=32, shuffle=True)
    net = Net().to(device)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.003)
    for epoch in range(5):
        running_loss = 0.0
        for inputs, labels in loader:
            inputs, labels = inputs.to(device), labels.to(device)
            optimizer.zero_grad()
            outputs = net(inputs)
            loss = criterion(outputs, labels)
            loss.backward()
            optimizer.step()
            running_loss += loss.item()
        print('[%d] loss: %.5f' % (epoch + 1, running_loss / len(loader)))


if __name__ == '__main__':
    train()
