import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(77)


def fake_download(i):
    """A CHW float picture; some sites still serve single channel files."""
    g = torch.Generator().manual_seed(i)
    channels = 1 if i % 17 == 11 else 3
    pic = torch.rand(channels, 10, 10, generator=g) * 0.3
    kind = i % 3
    pic[:, kind * 3:kind * 3 + 3] += 0.6
    return pic, kind


def to_rgb(pic):
    return pic if pic.shape[0] == 3 else pic.expand(3, -1, -1)


def normalise(pic):
    return (pic - 0.35) / 0.3


class WebImages(Dataset):
    def __init__(self, ids, transforms):
        self.ids = ids
        self.transforms = transforms

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, k):
        pic, kind = fake_download(self.ids[k])
        for t in self.transforms:
            pic = t(pic)
        return pic, kind


ids = list(range(180))
data = WebImages(ids, transforms=[to_rgb, normalise])
loader = DataLoader(data, batch_size=20, shuffle=True)

model = nn.Sequential(nn.Conv2d(3, 10, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(160, 3))
loss_fn = nn.CrossEntropyLoss(label_smoothing=0.05)
opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

for epoch in range(4):
    tot, n = 0.0, 0
    for pics, kinds in loader:
        opt.zero_grad()
        loss = loss_fn(model(pics), kinds)
        loss.backward()
        opt.step()
        tot += loss.item() * len(pics)
        n += len(pics)
    print("epoch", epoch, "loss", f"{tot / n:.6f}")
