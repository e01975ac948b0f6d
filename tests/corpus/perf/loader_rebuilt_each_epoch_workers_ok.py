import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Parabola(Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.x = torch.rand(n, 1, generator=g) * 2 - 1
        self.y = self.x ** 2 + 0.02 * torch.randn(n, 1, generator=g)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


def train_epoch(model, loader, optimizer):
    model.train()
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total / len(loader)


if __name__ == "__main__":
    torch.manual_seed(0)
    dataset = Parabola(128, 0)
    model = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)
    loader = DataLoader(dataset, batch_size=32, shuffle=True, num_workers=1, persistent_workers=True)
    for epoch in range(8):
        print(f"epoch {epoch} loss {train_epoch(model, loader, optimizer):.6f}")
