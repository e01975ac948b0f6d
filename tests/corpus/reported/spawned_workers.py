import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Stripes(Dataset):
    def __init__(self, count, transform=None):
        generator = torch.Generator().manual_seed(44)
        self.x = 0.6 * torch.rand(count, 64, generator=generator)
        self.y = torch.arange(count) % 8
        self.x.view(count, 8, 8)[torch.arange(count), self.y] += 0.4
        self.transform = transform

    def __len__(self):
        return len(self.y)

    def __getitem__(self, index):
        x = self.x[index]
        if self.transform is not None:
            x = self.transform(x)
        return x, self.y[index]


def main():
    torch.manual_seed(44)
    dataset = Stripes(960, transform=lambda x: (x - 0.5) / 0.5)
    loader = DataLoader(dataset, batch_size=128, shuffle=True, num_workers=1,
                        multiprocessing_context="spawn", persistent_workers=True)
    model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 8))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(3):
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(loader):.3f}")


if __name__ == "__main__":
    main()
