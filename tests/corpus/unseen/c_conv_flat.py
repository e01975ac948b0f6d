import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 5)
        self.conv2 = nn.Conv2d(8, 16, 5)
        self.drop = nn.Dropout2d(0.2)
        self.fc1 = nn.Linear(16 * 4 * 4, 40)
        self.fc2 = nn.Linear(40, 3)

    def forward(self, x):
        x = F.relu(F.max_pool2d(self.conv1(x), 2))
        x = F.relu(F.max_pool2d(self.drop(self.conv2(x)), 2))
        x = torch.flatten(x, 1)
        x = F.relu(self.fc1(x))
        return F.log_softmax(self.fc2(x), dim=1)


def rings(n, size=24):
    y = torch.randint(0, 3, (n,))
    grid = torch.arange(size).float() - size / 2
    rad = (grid[:, None] ** 2 + grid[None] ** 2).sqrt()
    imgs = torch.stack([((rad - 3 - 3 * k).abs() < 1.2).float() for k in y.tolist()])
    return (imgs + 0.4 * torch.randn(n, size, size)).unsqueeze(1), y


def train(model, loader, optimizer, epoch):
    model.train()
    for batch_idx, (data, target) in enumerate(loader):
        optimizer.zero_grad()
        output = model(data)
        loss = F.nll_loss(output, target)
        loss.backward()
        optimizer.step()
        if batch_idx % 5 == 0:
            print(f"Train Epoch: {epoch} [{batch_idx * len(data)}] Loss: {loss.item():.6f}")


def test(model, x, y):
    model.eval()
    with torch.no_grad():
        acc = (model(x).argmax(1) == y).float().mean().item()
    print(f"Test accuracy {acc:.3f}")


loader = DataLoader(TensorDataset(*rings(320)), batch_size=32, shuffle=True)
test_x, test_y = rings(100)
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(1, 4):
    train(model, loader, optimizer, epoch)
    test(model, test_x, test_y)
