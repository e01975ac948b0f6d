import torch
from torch.utils.data import Dataset


class TwoViews(Dataset):
    """Two noisy views of the same hidden cause."""

    def __init__(self, n=384, dim=16, seed=5):
        g = torch.Generator().manual_seed(seed)
        cause = torch.randn(n, 5, generator=g)
        self.a = cause @ torch.randn(5, dim, generator=g) + 0.3 * torch.randn(n, dim, generator=g)
        self.b = cause @ torch.randn(5, dim, generator=g) + 0.3 * torch.randn(n, dim, generator=g)

    def __len__(self):
        return len(self.a)

    def __getitem__(self, i):
        return self.a[i], self.b[i]
