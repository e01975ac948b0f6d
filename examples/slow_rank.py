"""Two processes train one classifier with DistributedDataParallel, and one of them is slow.

    stepscope run torchrun --nproc-per-node 2 examples/slow_rank.py
    stepscope ui

The page *Ranks* of the run names the slow rank and the phase in which it loses its time. The loop is ordinary
PyTorch; nothing in it belongs to Stepscope.
"""

from __future__ import annotations

import time

import torch
import torch.distributed as dist
from sklearn.datasets import load_digits
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler

EPOCHS = 4


class Digits(Dataset[tuple[Tensor, Tensor]]):
    """scikit-learn's handwritten digits; `delay_s` stands for a disk that is slower than the others."""

    def __init__(self, delay_s: float) -> None:
        data = load_digits()
        self.images = torch.tensor(data.data / 16, dtype=torch.float32)
        self.labels = torch.tensor(data.target)
        self.delay_s = delay_s

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        time.sleep(self.delay_s)
        return self.images[index], self.labels[index]


def main() -> None:
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    digits = Digits(delay_s=0.001 if dist.get_rank() == 1 else 0.0)
    sampler: DistributedSampler[tuple[Tensor, Tensor]] = DistributedSampler(digits)
    loader = DataLoader(digits, batch_size=8, sampler=sampler)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(EPOCHS):
        sampler.set_epoch(epoch)
        for images, labels in loader:
            loss = nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if dist.get_rank() == 0:
            print(f"epoch {epoch + 1} of {EPOCHS}: loss {loss.item():.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
