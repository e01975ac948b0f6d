import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim
from torch.utils.data import Dataset, DataLoader


class FrameDataset(Dataset):
    def __init__(self, frames, phones):
        self.frames = torch.tensor(frames, dtype=torch.float32)
        self.phones = torch.tensor(phones, dtype=torch.float32)

    def __len__(self):
        return len(self.frames)

    def __getitem__(self, i):
        return self.frames[i], self.phones[i]


rng = np.random.default_rng(5)
centers = rng.normal(size=(6, 20)) * 1.2
phones = rng.integers(0, 6, size=1500)
frames = centers[phones] + rng.normal(size=(1500, 20))

torch.manual_seed(5)
train_ds = FrameDataset(frames[:1200], phones[:1200])
valid_ds = FrameDataset(frames[1200:], phones[1200:])
train_dl = DataLoader(train_ds, batch_size=50, shuffle=True)
valid_dl = DataLoader(valid_ds, batch_size=100)

model = nn.Sequential(
    nn.Linear(20, 64), nn.ReLU(), nn.Dropout(0.2),
    nn.Linear(64, 32), nn.ReLU(),
    nn.Linear(32, 6),
)
loss_func = nn.CrossEntropyLoss()
opt = optim.SGD(model.parameters(), lr=0.05, momentum=0.9)


def loss_batch(model, xb, yb, opt=None):
    out = model(xb)
    loss = loss_func(out, yb)
    if opt is not None:
        loss.backward()
        opt.step()
        opt.zero_grad()
    return loss.item(), (out.argmax(1) == yb).sum().item(), len(xb)


for epoch in range(6):
    model.train()
    for xb, yb in train_dl:
        loss_batch(model, xb, yb, opt)
    model.eval()
    with torch.no_grad():
        losses, hits, nums = zip(*[loss_batch(model, xb, yb) for xb, yb in valid_dl])
    print(epoch, "valid loss", np.average(losses, weights=nums), "acc", sum(hits) / sum(nums))
