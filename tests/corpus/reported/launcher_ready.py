"""Training script that can run alone or under a launcher."""
import os

import torch
import torch.distributed as dist
from sklearn.datasets import load_digits
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def setup():
    if "RANK" in os.environ:
        dist.init_process_group("gloo")


def make_loader(batch_size):
    x, y = load_digits(return_X_y=True)
    dataset = TensorDataset(torch.tensor(x, dtype=torch.float32) / 16, torch.tensor(y))
    sampler = DistributedSampler(dataset, shuffle=True)
    return DataLoader(dataset, batch_size=batch_size, sampler=sampler, shuffle=sampler is None), sampler


def main():
    torch.manual_seed(55)
    setup()
    loader, sampler = make_loader(64)
    model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
    if dist.is_initialized():
        model = DistributedDataParallel(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(4):
        if sampler is not None:
            sampler.set_epoch(epoch)
        for x, y in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
        if not dist.is_initialized() or dist.get_rank() == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}")
    if dist.is_initialized():
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
