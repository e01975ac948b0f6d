import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, Dataset

NAMES = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]


def read_rows(part):
    """Stands for two csv files with a name per row."""
    data = load_digits()
    order = torch.randperm(len(data.target), generator=torch.Generator().manual_seed(2)).numpy()
    chosen = order[:1300] if part == "train" else order[1300:]
    return [(data.data[i] / 16, NAMES[data.target[i]]) for i in chosen]


class NamedDigits(Dataset):
    def __init__(self, rows, table=None):
        self.x = torch.tensor([row[0].tolist() for row in rows])
        if table is None:
            table = {}
            for _, name in rows:
                table.setdefault(name, len(table))
        self.table = table
        self.y = torch.tensor([table[name] for _, name in rows])

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


def evaluate(model, loader):
    model.eval()
    hits = total = 0
    with torch.no_grad():
        for x, y in loader:
            hits += (model(x).argmax(dim=1) == y).sum().item()
            total += len(y)
    return hits / total


def main():
    torch.manual_seed(2)
    train_set = NamedDigits(read_rows("train"))
    test_set = NamedDigits(read_rows("test"), table=train_set.table)
    train_loader = DataLoader(train_set, batch_size=64, shuffle=True)
    test_loader = DataLoader(test_set, batch_size=256)
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, len(train_set.table)))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(8):
        model.train()
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.3f} test accuracy {evaluate(model, test_loader):.3f}")


if __name__ == "__main__":
    main()
