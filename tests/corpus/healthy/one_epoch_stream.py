import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset


class Stream(IterableDataset):
    """Fresh samples from a generator; seen once."""

    def __init__(self, n, seed):
        self.n, self.seed = n, seed

    def __iter__(self):
        g = torch.Generator().manual_seed(self.seed)
        for _ in range(self.n):
            x = torch.randn(6, generator=g)
            yield x, (x[0] * x[1] > 0).long()


def main():
    torch.manual_seed(0)
    loader = DataLoader(Stream(2400, seed=1), batch_size=32)
    model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 2))
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    window = []
    for i, (x, y) in enumerate(loader, start=1):
        loss = nn.functional.cross_entropy(model(x), y)
        window.append(loss.item())              # progressive validation: scored before it is learnt
        opt.zero_grad()
        loss.backward()
        opt.step()
        if i % 15 == 0:
            print(f"batch {i}: {sum(window[-15:]) / 15:.5f}")


if __name__ == "__main__":
    main()
