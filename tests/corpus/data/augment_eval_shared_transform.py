import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Compose:
    def __init__(self, *steps):
        self.steps = steps

    def __call__(self, img):
        for step in self.steps:
            img = step(img)
        return img


def random_erase(img):
    r, c = torch.randint(0, 6, (2,)).tolist()
    img = img.clone()
    img[:, r:r + 3, c:c + 3] = 0
    return img


def random_shift(img):
    dr, dc = torch.randint(-1, 2, (2,)).tolist()
    return torch.roll(img, (dr, dc), dims=(1, 2))


def scale(img):
    return img / 16.0 - 0.3


train_tf = Compose(random_shift, random_erase, scale)


class Digits(Dataset):
    def __init__(self, rows, transform):
        d = load_digits()
        self.x = torch.tensor(d.images[rows], dtype=torch.float32).unsqueeze(1)
        self.y = torch.tensor(d.target[rows])
        self.transform = transform

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.transform(self.x[i]), self.y[i]


torch.manual_seed(10)
train_loader = DataLoader(Digits(slice(0, 900), train_tf), batch_size=60, shuffle=True)
val_loader = DataLoader(Digits(slice(900, 1200), train_tf), batch_size=100)
model = nn.Sequential(nn.Conv2d(1, 12, 3), nn.ReLU(), nn.Flatten(), nn.Linear(432, 10))
opt = torch.optim.Adam(model.parameters(), lr=4e-3)

for epoch in range(4):
    model.train()
    for x, y in train_loader:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        opt.step()
    model.eval()
    ok = 0
    with torch.no_grad():
        for x, y in val_loader:
            ok += (model(x).argmax(1) == y).sum().item()
    print(f"epoch {epoch} loss {loss.item():.5f} val acc {ok / 300:.4f}")
