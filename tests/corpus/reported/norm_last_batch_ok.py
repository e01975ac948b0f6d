import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class TabularNet(nn.Module):
    def __init__(self, inputs, width=32):
        super().__init__()
        self.fc1 = nn.Linear(inputs, width, bias=False)
        self.bn1 = nn.BatchNorm1d(width)
        self.fc2 = nn.Linear(width, width, bias=False)
        self.bn2 = nn.BatchNorm1d(width)
        self.out = nn.Linear(width, 2)

    def forward(self, x):
        x = F.relu(self.bn1(self.fc1(x)))
        x = F.relu(self.bn2(self.fc2(x)))
        return self.out(x)


def customers(count, generator):
    x = torch.randn(count, 9, generator=generator)
    churn = (x[:, 0] * x[:, 1] + x[:, 2] > 0).long()
    return x, churn


def main():
    torch.manual_seed(46)
    generator = torch.Generator().manual_seed(46)
    train_set = TensorDataset(*customers(769, generator))
    test_x, test_y = customers(231, generator)
    loader = DataLoader(train_set, batch_size=64, shuffle=True, drop_last=True)
    net = TabularNet(9)
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
    for epoch in range(6):
        net.train()
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
        net.eval()
        with torch.no_grad():
            accuracy = (net(test_x).argmax(1) == test_y).float().mean().item()
        print(f"epoch {epoch} accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
