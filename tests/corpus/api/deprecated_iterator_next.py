import torch
import torch.nn as nn
import torch.optim as optim
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
digits = load_digits()
images = torch.tensor(digits.images[:600], dtype=torch.float32).unsqueeze(1) / 16
labels = torch.tensor(digits.target[:600])
trainloader = DataLoader(TensorDataset(images, labels), batch_size=30, shuffle=True)

# get some random training images
dataiter = iter(trainloader)
sample_images, sample_labels = dataiter.next()
print('batch', tuple(sample_images.shape), 'labels', ' '.join('%d' % l for l in sample_labels[:8]))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3)
        self.pool = nn.MaxPool2d(2, 2)
        self.fc1 = nn.Linear(8 * 3 * 3, 32)
        self.fc2 = nn.Linear(32, 10)

    def forward(self, x):
        x = self.pool(torch.relu(self.conv1(x)))
        x = x.view(-1, 8 * 3 * 3)
        x = torch.relu(self.fc1(x))
        return self.fc2(x)


net = Net()
criterion = nn.CrossEntropyLoss()
optimizer = optim.SGD(net.parameters(), lr=0.05, momentum=0.9)

for epoch in range(4):
    running_loss = 0.0
    for i, data in enumerate(trainloader, 0):
        inputs, targets = data
        optimizer.zero_grad()
        loss = criterion(net(inputs), targets)
        loss.backward()
        optimizer.step()
        running_loss += loss.item()
    print('[%d] loss: %.5f' % (epoch + 1, running_loss / len(trainloader)))
print('Finished Training')
