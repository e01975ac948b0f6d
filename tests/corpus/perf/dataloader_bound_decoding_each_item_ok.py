import json
import zlib

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


def write_archive(n):
    gen = torch.Generator().manual_seed(0)
    records = []
    for _ in range(n):
        wave = torch.randn(1200, generator=gen).cumsum(0) / 20
        text = json.dumps({"wave": wave.tolist(), "rises": int(wave[-1] > 0)})
        records.append(zlib.compress(text.encode()))
    return records


class Waves(Dataset):
    def __init__(self, records):
        self.items = [self.decode(r) for r in records]

    @staticmethod
    def decode(record):
        item = json.loads(zlib.decompress(record))
        wave = torch.tensor(item["wave"]).view(60, 20).mean(1)
        return wave, item["rises"]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


torch.manual_seed(0)
loader = DataLoader(Waves(write_archive(120)), batch_size=24, shuffle=True)
model = nn.Sequential(nn.Linear(60, 800), nn.ReLU(), nn.Linear(800, 800), nn.ReLU(), nn.Linear(800, 2))
opt = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
for epoch in range(5):
    total = 0.0
    for wave, rises in loader:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(wave), rises)
        loss.backward()
        opt.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / len(loader):.6f}")
