import os

import torch
import torch.distributed as dist
from sklearn.datasets import load_digits
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def setup():
    rank = int(os.environ.get("RANK", 0))
    world = int(os.environ.get("WORLD_SIZE", 1))
    if "MASTER_ADDR" in os.environ:
        dist.init_process_group("gloo")
    else:
        store = "file://" + os.path.abspath("rendezvous")
        dist.init_process_group("gloo", init_method=store, rank=rank, world_size=world)
    return rank, world


def main():
    rank, world = setup()
    torch.manual_seed(0)
    x, y = load_digits(return_X_y=True)
    x, y = torch.tensor(x / 16, dtype=torch.float32), torch.tensor(y)
    train_set = TensorDataset(x[:1200], y[:1200])
    sampler = DistributedSampler(train_set, num_replicas=world, rank=rank, shuffle=True, seed=0)
    loader = DataLoader(train_set, batch_size=60 // world, sampler=sampler)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 10)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)

    for epoch in range(5):
        model.train()
        for xb, yb in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(xb), yb)
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            acc = (model(x[1200:]).argmax(1) == y[1200:]).float().mean().item()
        if rank == 0:
            print(f"epoch {epoch}: loss {loss.item():.5f} val acc {acc:.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
