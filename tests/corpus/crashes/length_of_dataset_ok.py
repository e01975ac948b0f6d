import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Windows(Dataset):
    def __init__(self, series, width):
        self.series = series
        self.width = width

    def __len__(self):
        return len(self.series) - self.width

    def __getitem__(self, i):
        x = self.series[i : i + self.width]
        return x, self.series[i + self.width]


torch.manual_seed(0)
series = torch.sin(torch.arange(300) / 5)
loader = DataLoader(Windows(series, 20), batch_size=1)
model = nn.Linear(20, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.01)
total = 0.0
for x, y in loader:
    loss = (model(x).squeeze(1) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    total += loss.item()
print(total / len(series))
