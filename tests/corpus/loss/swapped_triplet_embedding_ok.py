import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset


class TripletDigits(Dataset):
    """(anchor, same class, another class) drawn with a per-index generator."""

    def __init__(self, images, labels):
        self.images, self.labels = images, labels
        self.by_class = {c: torch.nonzero(labels == c).flatten() for c in labels.unique().tolist()}

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(1000 + i)
        c = int(self.labels[i])
        same = self.by_class[c]
        other = self.by_class[(c + 1 + int(torch.randint(9, (1,), generator=g))) % 10]
        pos = same[torch.randint(len(same), (1,), generator=g)].item()
        neg = other[torch.randint(len(other), (1,), generator=g)].item()
        return self.images[i], self.images[pos], self.images[neg]


class Embedder(nn.Module):
    def __init__(self, dim=8):
        super().__init__()
        self.fc = nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, dim))

    def forward(self, x):
        return F.normalize(self.fc(x), dim=1)


def knn_accuracy(net, x, y, qx, qy):
    net.eval()
    with torch.no_grad():
        nearest = torch.cdist(net(qx), net(x)).argmin(dim=1)
    return (y[nearest] == qy).float().mean().item()


if __name__ == "__main__":
    torch.manual_seed(0)
    raw = load_digits()
    x = torch.tensor(raw.data[:500] / 16, dtype=torch.float32)
    y = torch.tensor(raw.target[:500])
    loader = DataLoader(TripletDigits(x[:400], y[:400]), batch_size=50, shuffle=True)
    net = Embedder()
    triplet = nn.TripletMarginLoss(margin=0.5)
    optim = torch.optim.Adam(net.parameters(), lr=3e-3)
    for epoch in range(7):
        net.train()
        total = 0.0
        for anchor, positive, negative in loader:
            loss = triplet(net(anchor), net(positive), net(negative))
            optim.zero_grad()
            loss.backward()
            optim.step()
            total += loss.item()
        acc = knn_accuracy(net, x[:400], y[:400], x[400:], y[400:])
        print(f"epoch {epoch}  triplet {total / len(loader):.5f}  1-nn {acc:.4f}")
