import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset


class DigitArchive(Dataset):
    """Images stored one folder per class, listed folder after folder."""

    def __init__(self, images, labels):
        order = np.argsort(labels, kind="stable")
        self.images = torch.tensor(images[order], dtype=torch.float32) / 16
        self.labels = torch.tensor(labels[order])

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.images[i].flatten(), self.labels[i]


def get_loaders(batch_size):
    d = load_digits()
    rng = np.random.default_rng(0)
    perm = rng.permutation(len(d.target))
    tr, te = perm[:1300], perm[1300:]
    train_ds = DigitArchive(d.images[tr], d.target[tr])
    test_ds = DigitArchive(d.images[te], d.target[te])
    train_loader = DataLoader(train_ds, batch_size=batch_size, shuffle=True)
    test_loader = DataLoader(test_ds, batch_size=batch_size, shuffle=False)
    return train_loader, test_loader


def main():
    torch.manual_seed(0)
    train_loader, test_loader = get_loaders(32)
    net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    ce = nn.CrossEntropyLoss()
    for epoch in range(6):
        losses = []
        for x, y in train_loader:
            loss = ce(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
        with torch.no_grad():
            hits = sum((net(x).argmax(1) == y).sum().item() for x, y in test_loader)
        print(f"epoch {epoch}: train loss {np.mean(losses):.4f} test acc {hits / len(test_loader.dataset):.3f}")


main()
