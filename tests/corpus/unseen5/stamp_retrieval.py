"""Metric learning for stamp retrieval with a triplet margin loss."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits


class Embedder(nn.Module):
    def __init__(self, dim=12):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, dim))

    def forward(self, x):
        return F.normalize(self.net(x), dim=1)


class TripletSampler:
    def __init__(self, x, y):
        self.x, self.y = x, y
        self.by_class = {int(k): torch.where(y == k)[0] for k in y.unique()}

    def __call__(self, n):
        classes = torch.tensor(list(self.by_class))
        a, p, q = [], [], []
        for _ in range(n):
            pos, neg = classes[torch.randperm(len(classes))[:2]].tolist()
            pool, other = self.by_class[pos], self.by_class[neg]
            i, j = torch.randint(0, len(pool), (2,))
            a.append(pool[i])
            p.append(pool[j])
            q.append(other[torch.randint(0, len(other), (1,))][0])
        return self.x[torch.stack(a)], self.x[torch.stack(p)], self.x[torch.stack(q)]


@torch.no_grad()
def recall_at_1(model, x, y):
    z = model(x)
    dist = torch.cdist(z, z)
    nearest = dist.argmin(dim=1)
    return (y[nearest] == y).float().mean().item()


def main():
    torch.manual_seed(76)
    d = load_digits()
    x = torch.tensor(d.data / 16.0, dtype=torch.float32) + 0.35 * torch.randn(len(d.data), 64)
    y = torch.tensor(d.target)
    seen = y < 6
    sampler = TripletSampler(x[seen], y[seen])
    model = Embedder()
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    criterion = nn.TripletMarginLoss(margin=0.3)
    for step in range(120):
        loss = criterion(*(model(t) for t in sampler(32)))
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 40 == 0:
            print(f"step {step} loss {loss.item():.4f} recall@1 {recall_at_1(model, x[~seen], y[~seen]):.4f}")
    print("recall@1 on unseen stamps", recall_at_1(model, x[~seen], y[~seen]))


if __name__ == "__main__":
    main()
