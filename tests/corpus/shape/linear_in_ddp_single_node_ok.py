import os

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


class Fusion(nn.Module):
    """Audio and text features in, one of four intents out."""

    def __init__(self, audio_dim, text_dim, hidden=24):
        super().__init__()
        self.audio = nn.Sequential(nn.Linear(audio_dim, hidden), nn.ReLU())
        self.text = nn.Sequential(nn.Linear(text_dim, hidden), nn.ReLU())
        self.head = nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, 4))

    def forward(self, audio, text):
        return self.head(self.audio(audio) * self.text(text))


def make_data(n):
    g = torch.Generator().manual_seed(0)
    audio, text = torch.randn(n, 10, generator=g), torch.randn(n, 14, generator=g)
    intent = (audio[:, 0] > 0).long() * 2 + (text[:, 0] > 0).long()
    return TensorDataset(audio, text, intent)


def main():
    if "RANK" in os.environ:      # started by torchrun
        dist.init_process_group("gloo")
    else:
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    data = make_data(480)
    sampler = DistributedSampler(data, num_replicas=world, rank=rank, shuffle=True, seed=0)
    loader = DataLoader(data, batch_size=40, sampler=sampler)
    model = DDP(Fusion(10, 14))
    optimizer = torch.optim.Adam(model.parameters(), lr=6e-3)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(6):
        sampler.set_epoch(epoch)
        total = torch.zeros(1)
        for audio, text, intent in loader:
            optimizer.zero_grad()
            loss = criterion(model(audio, text), intent)
            loss.backward()
            optimizer.step()
            total += loss.detach()
        dist.all_reduce(total)
        if rank == 0:
            print(f"epoch {epoch} loss {total.item() / world / len(loader):.6f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
