import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


def loaders(batch_size=64):
    x, y = load_digits(return_X_y=True)
    data = TensorDataset(torch.tensor(x, dtype=torch.float32) / 16, torch.tensor(y))
    train_size = int(0.85 * len(data))
    val_size = len(data) - train_size
    train_set, val_set = random_split(data, [train_size, val_size], generator=torch.Generator().manual_seed(57))
    return DataLoader(train_set, batch_size, shuffle=True), DataLoader(val_set, batch_size)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(64, 40)
        self.drop = nn.Dropout(0.15)
        self.fc2 = nn.Linear(40, 10)

    def forward(self, x):
        return self.fc2(self.drop(self.fc1(x).relu()))


def main():
    torch.manual_seed(57)
    train_loader, val_loader = loaders()
    model = Model()
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(4):
        model.train()
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
        model.eval()
        right = 0
        with torch.no_grad():
            for x, y in val_loader:
                right += (model(x).argmax(1) == y).sum().item()
        print(f"epoch {epoch} val accuracy {right / len(val_loader.dataset):.3f}")


if __name__ == "__main__":
    main()
