import random
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, Dataset, Subset

random.seed(33)
torch.manual_seed(33)


class Digits(Dataset):
    def __init__(self, transform=None):
        d = load_digits()
        self.x = torch.tensor(d.images, dtype=torch.float32).unsqueeze(1) / 16
        self.y = torch.tensor(d.target)
        self.transform = transform

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        img = self.x[i]
        if self.transform is not None:
            img = self.transform(img)
        return img, self.y[i]


def random_shift(img):
    return torch.roll(img, (random.randint(-1, 1), random.randint(-1, 1)), dims=(1, 2))


def identity(img):
    return img


perm = torch.randperm(1797).tolist()
full = Digits()
train_set, val_set = Subset(full, perm[:1400]), Subset(full, perm[1400:])
train_set.dataset.transform = random_shift
val_set.dataset.transform = identity
train_loader = DataLoader(train_set, batch_size=64, shuffle=True)
val_loader = DataLoader(val_set, batch_size=128)

net = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(1024, 64), nn.ReLU(),
                    nn.Linear(64, 10))
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(13):
    for x, y in train_loader:
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        acc = sum((net(x).argmax(1) == y).sum().item() for x, y in val_loader) / len(val_set)
        shifted = sum((net(torch.roll(x, (1, -1), dims=(2, 3))).argmax(1) == y).sum().item() for x, y in val_loader)
    if epoch % 3 == 0:
        print(f"epoch {epoch} loss {loss.item():.3f} val acc {acc:.3f} shifted val acc {shifted / len(val_set):.3f}")
