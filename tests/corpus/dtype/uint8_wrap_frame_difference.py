import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(9)


class Clips(Dataset):
    """Two frames of a moving square, as bytes; which way did it move?"""

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.frames = torch.randint(0, 30, (n, 2, 12, 12), generator=g, dtype=torch.uint8)
        self.label = torch.randint(0, 2, (n,), generator=g)
        for i in range(n):
            y, x = torch.randint(3, 7, (2,), generator=g).tolist()
            dx = 2 if self.label[i] else -2
            self.frames[i, 0, y:y + 3, x:x + 3] = 200
            self.frames[i, 1, y:y + 3, x + dx:x + dx + 3] = 200

    def __len__(self):
        return len(self.label)

    def __getitem__(self, i):
        before, after = self.frames[i]
        motion = (after - before).float() / 255
        return motion.unsqueeze(0), self.label[i]


model = nn.Sequential(
    nn.Conv2d(1, 8, 5), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(8, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(32, 2),
)
loader = DataLoader(Clips(240, 0), batch_size=24, shuffle=True)
val_loader = DataLoader(Clips(60, 1), batch_size=60)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
loss_fn = nn.CrossEntropyLoss()

for epoch in range(6):
    model.train()
    total = 0.0
    for clip, way in loader:
        loss = loss_fn(model(clip), way)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        acc = sum((model(c).argmax(1) == w).sum().item() for c, w in val_loader) / 60
    print(f"epoch {epoch}: loss {total / len(loader):.6f} val acc {acc:.3f}")
