import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, Dataset


class PairDataset(Dataset):
    def __init__(self, x, y, n_pairs, seed):
        g = torch.Generator().manual_seed(seed)
        left = torch.randint(len(x), (n_pairs,), generator=g)
        right = torch.randint(len(x), (n_pairs,), generator=g)
        half = n_pairs // 2
        for k in range(half):                       # the first half are pairs of one class
            same = torch.nonzero(y == y[left[k]]).flatten()
            right[k] = same[torch.randint(len(same), (1,), generator=g)]
        self.a, self.b, self.same = x[left], x[right], (y[left] == y[right]).float()

    def __len__(self):
        return len(self.same)

    def __getitem__(self, i):
        return self.a[i], self.b[i], self.same[i]


class ContrastiveLoss(nn.Module):
    def __init__(self, margin=1.0):
        super().__init__()
        self.margin = margin

    def forward(self, za, zb, same):
        dist = ((za - zb) ** 2).sum().add(1e-9).sqrt()
        pull = same * dist ** 2
        push = (1 - same) * torch.clamp(self.margin - dist, min=0) ** 2
        return (pull + push).mean()


def main():
    torch.manual_seed(0)
    d = load_digits()
    x, y = torch.tensor(d.data[:600] / 16, dtype=torch.float32), torch.tensor(d.target[:600])
    loader = DataLoader(PairDataset(x[:450], y[:450], 400, 0), batch_size=40, shuffle=True)
    val = PairDataset(x[450:], y[450:], 200, 1)
    net = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 6))
    criterion = ContrastiveLoss()
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    for epoch in range(8):
        net.train()
        total = 0.0
        for a, b, same in loader:
            loss = criterion(net(a), net(b), same)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        net.eval()
        with torch.no_grad():
            dist = (net(val.a) - net(val.b)).norm(dim=1)
        gap = dist[val.same == 0].mean() - dist[val.same == 1].mean()
        print(f"epoch {epoch} loss {total / len(loader):.5f} distance gap {gap.item():.5f}")


main()
