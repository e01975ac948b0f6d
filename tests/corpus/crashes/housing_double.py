import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Houses(Dataset):
    def __init__(self, n=400, seed=0):
        rng = np.random.default_rng(seed)
        features = rng.normal(size=(n, 5))
        price = features @ np.array([3.0, -1.0, 0.5, 2.0, 0.0]) + 10
        self.x = torch.from_numpy(features)
        self.y = torch.from_numpy(price).float()

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


def fit(model, loader, epochs=4):
    opt = torch.optim.SGD(model.parameters(), lr=1e-2)
    for epoch in range(epochs):
        for x, y in loader:
            pred = model(x).squeeze(1)
            loss = nn.functional.mse_loss(pred, y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(epoch, loss.item())


torch.manual_seed(0)
fit(nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1)), DataLoader(Houses(), batch_size=40, shuffle=True))
