"""Learns a space of digits with triplets and tests it with nearest neighbors."""
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset


class Triplets(Dataset):
    def __init__(self, images, labels, seed):
        self.images, self.labels = images, labels
        self.by_label = [torch.nonzero(labels == c).squeeze(1) for c in range(10)]
        self.generator = torch.Generator().manual_seed(seed)

    def __len__(self):
        return len(self.images)

    def pick(self, rows):
        return rows[torch.randint(0, len(rows), (), generator=self.generator)]

    def __getitem__(self, index):
        label = int(self.labels[index])
        other = (label + 1 + int(torch.randint(0, 9, (), generator=self.generator))) % 10
        positive = self.pick(self.by_label[label])
        negative = self.pick(self.by_label[other])
        return self.images[index], self.images[positive], self.images[negative]


class Embedder(nn.Module):
    def __init__(self, size=16):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, size))

    def forward(self, x):
        return F.normalize(self.net(x), dim=1)


@torch.no_grad()
def nearest_accuracy(model, train, test):
    (x_train, y_train), (x_test, y_test) = train, test
    near = torch.cdist(model(x_test), model(x_train)).argmin(1)
    return (y_train[near] == y_test).float().mean().item()


def main(epochs=6):
    torch.manual_seed(4)
    x, y = load_digits(return_X_y=True)
    x, y = torch.tensor(x / 16, dtype=torch.float32), torch.tensor(y)
    train, test = (x[:1300], y[:1300]), (x[1300:], y[1300:])
    loader = DataLoader(Triplets(*train, seed=1), batch_size=64, shuffle=True)
    model = Embedder()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.TripletMarginLoss(margin=0.5)
    for epoch in range(epochs):
        total = 0.0
        for anchor, positive, negative in loader:
            loss = criterion(model(anchor), model(positive), model(negative))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(loader):.4f} nearest {nearest_accuracy(model, train, test):.4f}")


if __name__ == "__main__":
    main()
