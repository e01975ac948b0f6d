import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

SPECIES = {"clownfish": 1, "tang": 2, "wrasse": 3, "goby": 4, "grouper": 5}


class ReefSurvey(Dataset):
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        names = rng.choice(list(SPECIES), size=n)
        ids = np.array([SPECIES[s] for s in names])
        centers = np.random.default_rng(5).normal(0, 2.0, size=(6, 8))
        self.features = (centers[ids] + rng.normal(0, 1, size=(n, 8))).astype(np.float32)
        self.names = names

    def __len__(self):
        return len(self.names)

    def __getitem__(self, i):
        label = SPECIES[self.names[i]]
        return torch.from_numpy(self.features[i]), label


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1 = nn.Linear(8, 48)
        self.l2 = nn.Linear(48, len(SPECIES))

    def forward(self, x):
        return self.l2(F.relu(self.l1(x)))


torch.manual_seed(1)
train_loader = DataLoader(ReefSurvey(800, 0), batch_size=32, shuffle=True)
val_loader = DataLoader(ReefSurvey(300, 1), batch_size=100)
net = Net()
optim = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)

for epoch in range(5):
    net.train()
    losses = []
    for x, y in train_loader:
        optim.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optim.step()
        losses.append(loss.item())
    net.eval()
    hits = 0
    with torch.no_grad():
        for x, y in val_loader:
            hits += (net(x).argmax(1) == y).sum().item()
    print("epoch", epoch, "loss", round(np.mean(losses), 4), "val acc", hits / len(val_loader.dataset))
