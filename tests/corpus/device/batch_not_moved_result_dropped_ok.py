import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Mazes(Dataset):
    """Random 8x8 grids; is the middle row free?"""

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.grid = (torch.rand(n, 1, 8, 8, generator=g) < 0.25).float()
        free = torch.rand(n, generator=g) < 0.5
        self.grid[free, :, 4] = 0.0
        self.free = (self.grid[:, 0, 4].sum(1, keepdim=True) == 0).float()

    def __len__(self):
        return len(self.grid)

    def __getitem__(self, i):
        return self.grid[i], self.free[i]


class RowFinder(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, (1, 8))
        self.fc = nn.Linear(64, 1)

    def forward(self, x):
        return self.fc(torch.relu(self.conv(x)).flatten(1))

    def fit(self, loader, epochs, device):
        self.to(device)
        optimizer = torch.optim.Adam(self.parameters(), lr=0.01)
        loss_fn = nn.BCEWithLogitsLoss()
        for epoch in range(epochs):
            epoch_loss = 0.0
            for grid, free in loader:
                grid = grid.to(device)
                free = free.to(device)
                optimizer.zero_grad()
                loss = loss_fn(self(grid), free)
                loss.backward()
                optimizer.step()
                epoch_loss += loss.item()
            print(f"epoch {epoch + 1}/{epochs} - loss: {epoch_loss / len(loader):.6f}")


def main():
    torch.manual_seed(0)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = RowFinder()
    model.fit(DataLoader(Mazes(320, 0), batch_size=32, shuffle=True), epochs=8, device=device)


if __name__ == "__main__":
    main()
