import os

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


def write_samples(root):
    rng = np.random.default_rng(0)
    for name, shift in {"walk": -1.0, "run": 1.0, "cycle": 3.0}.items():
        os.makedirs(os.path.join(root, name), exist_ok=True)
        for k in range(30):
            np.save(os.path.join(root, name, f"{k:03d}.npy"), rng.normal(shift, 1.0, 12).astype(np.float32))


class Activities(Dataset):
    def __init__(self, root):
        self.classes = sorted(os.listdir(root))
        self.samples = []
        for index, name in enumerate(self.classes):
            folder = os.path.join(root, name)
            for file in sorted(os.listdir(folder)):
                self.samples.append((np.load(os.path.join(folder, file)), index))

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        return self.samples[i]


torch.manual_seed(0)
write_samples("activities")
data = Activities("activities")
loader = DataLoader(data, batch_size=18, shuffle=True)
model = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 3))
opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for epoch in range(6):
    total = 0.0
    for x, y in loader:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        opt.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / len(loader):.5f}")
torch.save({"model": model.state_dict(), "classes": data.classes}, "activities.pt")
