import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Parity(Dataset):
    def __init__(self, n, bits=6, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.x = torch.randint(0, 2, (n, bits), generator=g).float()
        self.y = (self.x[:, :3].sum(1) % 2).long()

    def __len__(self):
        return len(self.y)

    def __getitem__(self, idx):
        return self.x[idx] * 2 - 1, self.y[idx]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1 = nn.Linear(6, 48)
        self.l2 = nn.Linear(48, 2)

    def forward(self, x):
        return self.l2(torch.tanh(self.l1(x)))


def train_epoch(model, loader, optimizer):
    model.train()
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(x)
    return total / len(loader.dataset)


def main():
    torch.manual_seed(0)
    loader = DataLoader(Parity(240), batch_size=24, shuffle=True)
    model = Net()
    for epoch in range(10):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.95)
        avg = train_epoch(model, loader, optimizer)
        print(f"Epoch {epoch + 1:02d}: {avg:.6f}")


if __name__ == "__main__":
    main()
