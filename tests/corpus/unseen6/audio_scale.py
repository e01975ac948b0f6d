import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
SR = 1600


class Tones(Dataset):
    def __init__(self, n, train):
        self.y = torch.randint(0, 4, (n,))
        t = torch.arange(SR // 2) / SR
        f = torch.tensor([60.0, 120.0, 200.0, 320.0])[self.y]
        w = torch.sin(6.283 * f[:, None] * t) + 0.3 * torch.randn(n, len(t))
        self.w = (w * 8000).to(torch.int16)
        self.train = train

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        w = self.w[i].float()
        if self.train:
            w = w / 32768
            w = w + 0.005 * torch.randn_like(w)
        return w.unsqueeze(0), self.y[i]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Conv1d(1, 16, 32, 4), nn.BatchNorm1d(16), nn.ReLU(), nn.Conv1d(16, 16, 8, 4), nn.ReLU(), nn.AdaptiveAvgPool1d(1))
        self.c = nn.Linear(16, 4)

    def forward(self, w):
        return self.c(self.f(w).squeeze(-1))


train, valid = DataLoader(Tones(320, True), 32, shuffle=True), DataLoader(Tones(100, False), 50)
net = Net()
opt = torch.optim.Adam(net.parameters(), 5e-3)
for epoch in range(6):
    net.train()
    for w, y in train:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(w), y)
        loss.backward()
        opt.step()
    net.eval()
    hits = 0
    with torch.no_grad():
        for w, y in valid:
            hits += (net(w).argmax(1) == y).sum().item()
    print(epoch, loss.item(), hits / 100)
