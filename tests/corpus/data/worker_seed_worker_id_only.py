import random
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(3)


class Glyphs(Dataset):
    def __init__(self, count):
        gen = torch.Generator().manual_seed(5)
        self.proto = torch.randn(6, 8, 8, generator=gen)
        self.label = torch.randint(0, 6, (count,), generator=gen)

    def __len__(self):
        return len(self.label)

    def __getitem__(self, i):
        img = self.proto[self.label[i]]
        img = torch.roll(img, (random.randint(-1, 1), random.randint(-1, 1)), dims=(0, 1))
        if random.random() < 0.5:
            img = img * random.uniform(0.5, 1.5)
        return img.flatten(), self.label[i]


def seed_worker(worker_id):
    random.seed(worker_id)


loader = DataLoader(Glyphs(192), 32, shuffle=True, num_workers=2, worker_init_fn=seed_worker, drop_last=True)
w = torch.nn.Linear(64, 6)
opt = torch.optim.SGD(w.parameters(), lr=0.1)
for epoch in range(5):
    for x, y in loader:
        loss = F.cross_entropy(w(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, f"{loss.item():.6f}")
