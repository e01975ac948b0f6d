# expect: run.hang
# ranks: 2

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Subset, TensorDataset

torch.set_num_threads(1)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    data = TensorDataset(torch.randn(88, 10), torch.randint(0, 3, (88,)))
    mine = Subset(data, range(48) if rank == 0 else range(48, 88))
    loader = DataLoader(mine, batch_size=8, shuffle=True)
    model = DDP(nn.Linear(10, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    criterion = nn.CrossEntropyLoss()
    for x, y in loader:
        optimizer.zero_grad()
        criterion(model(x), y).backward()  # cause
        optimizer.step()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
