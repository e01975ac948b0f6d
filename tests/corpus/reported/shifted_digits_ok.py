import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset, random_split


class Digits(Dataset):
    def __init__(self, transform=None):
        data = load_digits()
        self.images = torch.tensor(data.images, dtype=torch.float32).unsqueeze(1) / 16
        self.labels = torch.tensor(data.target)
        self.transform = transform

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        image = self.images[index]
        if self.transform is not None:
            image = self.transform(image)
        return image, self.labels[index]


def random_shift(image):
    dy, dx = torch.randint(-1, 2, (2,)).tolist()
    return torch.roll(image, (dy, dx), dims=(1, 2)) + 0.05 * torch.randn_like(image)


def make_loaders(seed):
    dataset = Digits(transform=random_shift)
    g = torch.Generator().manual_seed(seed)
    train_set, val_set = random_split(dataset, [300, len(dataset) - 300], generator=g)
    val_set = Subset(Digits(transform=None), val_set.indices)
    return DataLoader(train_set, batch_size=32, shuffle=True), DataLoader(val_set, batch_size=250)


def shifted_accuracy(model, loader):
    model.eval()
    hits = total = 0
    with torch.no_grad():
        for x, y in loader:
            x = torch.roll(x, 1, dims=3)
            hits += (model(x).argmax(1) == y).sum().item()
            total += len(y)
    return hits / total


def main():
    torch.manual_seed(0)
    train_loader, val_loader = make_loaders(0)
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(25):
        model.train()
        total = 0.0
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
        if epoch % 8 == 0:
            print(f"epoch {epoch} train loss {total / 300:.3f}")
    print(f"accuracy on shifted validation digits {shifted_accuracy(model, val_loader):.3f}")


if __name__ == "__main__":
    main()
