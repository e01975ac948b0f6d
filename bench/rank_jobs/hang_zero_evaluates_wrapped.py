# expect: run.hang, dist.collective-mismatch
# ranks: 4

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

torch.set_num_threads(1)


@torch.no_grad()
def evaluate(model, batches):
    model.eval()
    right = sum((model(x).argmax(1) == y).sum().item() for x, y in batches)  # cause
    model.train()
    return right


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    x = torch.randn(512, 10)
    train, held = (
        TensorDataset(x[:384], (x[:384].sum(1) > 0).long()),
        TensorDataset(x[384:], (x[384:].sum(1) > 0).long()),
    )
    sampler = DistributedSampler(train)
    loader, test = DataLoader(train, batch_size=16, sampler=sampler), DataLoader(held, batch_size=32)
    model = DDP(nn.Sequential(nn.Linear(10, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 2)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for epoch in range(4):
        sampler.set_epoch(epoch)
        for a, b in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(a), b).backward()
            optimizer.step()
        if rank == 0:
            print("right", evaluate(model, test))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
