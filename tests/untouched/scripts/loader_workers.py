"""DataLoader workers: the same batches, worker seeds, order, worker_init_fn, and class of the iterator."""
import random

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, get_worker_info


class Noisy(Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, i):
        info = get_worker_info()
        return torch.tensor([i, info.id, info.seed % 10, torch.rand(()).item(), random.random(), np.random.rand()])


def init(worker):
    np.random.seed(worker)


if __name__ == "__main__":
    torch.manual_seed(0)
    random.seed(0)
    np.random.seed(0)
    model = nn.Linear(6, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-5)
    loader = DataLoader(Noisy(), batch_size=4, num_workers=2, worker_init_fn=init, shuffle=True, persistent_workers=True)
    for epoch in range(2):
        for x in loader:
            optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            print(epoch, [[round(v, 6) for v in row] for row in x.tolist()], loss.item())
    print(type(loader._iterator).__name__, torch.rand(1).item())
