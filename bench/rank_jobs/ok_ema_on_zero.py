# expect: nothing
# ranks: 2

import copy

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
x = torch.randn(640, 12)
y = (x[:, 0] + x[:, 1] ** 2 > 0.5).long()
train, held_out = TensorDataset(x[:512], y[:512]), TensorDataset(x[512:], y[512:])
sampler = DistributedSampler(train, seed=1)
loader = DataLoader(train, batch_size=16, sampler=sampler)
net = nn.Sequential(nn.Linear(12, 48), nn.ReLU(), nn.Dropout(0.2), nn.Linear(48, 2))
model = DDP(net)
ema = copy.deepcopy(net).eval().requires_grad_(False) if rank == 0 else None
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
torch.manual_seed(1000 + rank)  # noise and dropout differ between the ranks on purpose
for epoch in range(6):
    sampler.set_epoch(epoch)
    for a, b in loader:
        loss = nn.functional.cross_entropy(model(a + 0.05 * torch.randn_like(a)), b)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if ema is not None:
            with torch.no_grad():
                for mine, theirs in zip(ema.parameters(), net.parameters()):
                    mine.lerp_(theirs, 0.05)
    if rank == 0:
        with torch.no_grad():
            right = sum((ema(a).argmax(1) == b).sum().item() for a, b in DataLoader(held_out, batch_size=64))
        print(f"epoch {epoch}: accuracy {right / len(held_out):.3f}")
        torch.save({"model": net.state_dict(), "ema": ema.state_dict()}, "checkpoint.pt")
    dist.barrier()
dist.destroy_process_group()
