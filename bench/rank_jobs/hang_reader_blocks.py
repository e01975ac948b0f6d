# expect: run.hang
# ranks: 2

import threading

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)


class Reader(Dataset):
    def __init__(self, rank):
        self.rank, self.ready = rank, threading.Event()
        self.x = torch.randn(400, 6)

    def __len__(self):
        return 400

    def __getitem__(self, i):
        if self.rank == 1 and i > 60:
            self.ready.wait()  # cause
        return self.x[i], self.x[i].sum()


dist.init_process_group("gloo")
torch.manual_seed(dist.get_rank())
model = DDP(nn.Linear(6, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for x, y in DataLoader(Reader(dist.get_rank()), batch_size=8):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x).squeeze(1), y).backward()
    optimizer.step()
dist.destroy_process_group()
