import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset


class DigitsSplit(Dataset):
    def __init__(self, split, fraction=0.8, seed=0):
        x, y = load_digits(return_X_y=True)
        self.total = len(y)
        order = torch.randperm(self.total, generator=torch.Generator().manual_seed(seed))
        cut = int(fraction * self.total)
        rows = order[:cut] if split == "train" else order[cut:]
        self.x = torch.tensor(x, dtype=torch.float32)[rows] / 16
        self.y = torch.tensor(y)[rows]

    def __len__(self):
        return self.total

    def __getitem__(self, index):
        return self.x[index], self.y[index]


@torch.no_grad()
def score(model, loader):
    model.eval()
    right = sum((model(x).argmax(1) == y).sum().item() for x, y in loader)
    return right / len(loader.dataset)


def main():
    torch.manual_seed(42)
    train_loader = DataLoader(DigitsSplit("train"), batch_size=96, shuffle=True)
    test_loader = DataLoader(DigitsSplit("test"), batch_size=256)
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(5):
        model.train()
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} test accuracy {score(model, test_loader):.3f}")


if __name__ == "__main__":
    main()
