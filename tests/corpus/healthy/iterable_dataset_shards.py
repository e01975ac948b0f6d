import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Shards(IterableDataset):
    """Reads shards one after the other with a small shuffle buffer."""

    def __init__(self, n_shards=6, per_shard=64, buffer=48, seed=0):
        self.n_shards, self.per_shard, self.buffer, self.seed = n_shards, per_shard, buffer, seed
        self.epoch = 0

    def read(self, shard):
        g = torch.Generator().manual_seed(1000 + shard)
        for _ in range(self.per_shard):
            x = torch.randn(5, generator=g)
            yield x, x.square().sum().sqrt()

    def __iter__(self):
        info = get_worker_info()
        first, stride = (info.id, info.num_workers) if info else (0, 1)
        g = torch.Generator().manual_seed(self.seed + self.epoch)
        pool = []
        for shard in range(first, self.n_shards, stride):
            for item in self.read(shard):
                pool.append(item)
                if len(pool) >= self.buffer:
                    yield pool.pop(int(torch.randint(0, len(pool), (1,), generator=g)))
        while pool:
            yield pool.pop(int(torch.randint(0, len(pool), (1,), generator=g)))


if __name__ == "__main__":
    torch.manual_seed(0)
    data = Shards()
    model = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(5):
        data.epoch = epoch
        seen, total = 0, 0.0
        for x, y in DataLoader(data, batch_size=32):
            loss = nn.functional.mse_loss(model(x).squeeze(1), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            seen, total = seen + len(x), total + loss.item() * len(x)
        print(f"epoch {epoch} samples {seen} loss {total / seen:.5f}")
