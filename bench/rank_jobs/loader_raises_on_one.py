# expect: index.past-end, crash.raised
# ranks: 4

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler

torch.set_num_threads(1)


class Reviews(Dataset):
    def __init__(self):
        self.texts = ["good film"] * 300
        self.texts[157] = ""

    def __len__(self):
        return 300

    def __getitem__(self, i):
        words = self.texts[i].split()
        first = words[0]  # cause
        return torch.tensor([len(first), len(words), i % 7], dtype=torch.float32), i % 2


dist.init_process_group("gloo")
torch.manual_seed(8)
data = Reviews()
sampler = DistributedSampler(data, shuffle=False)
model = DDP(nn.Linear(3, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(2):
    sampler.set_epoch(epoch)
    for x, y in DataLoader(data, batch_size=5, sampler=sampler):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
dist.destroy_process_group()
