import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, SubsetRandomSampler

torch.manual_seed(0)


class Parity(Dataset):
    def __init__(self, n=900, max_len=9):
        self.len = torch.randint(2, max_len + 1, (n,))
        self.x = torch.zeros(n, max_len, 2)
        bits = torch.randint(0, 2, (n, max_len))
        for i, l in enumerate(self.len.tolist()):
            self.x[i, :l] = F.one_hot(bits[i, :l], 2).float()
        keep = torch.arange(max_len)[None] < self.len[:, None]
        self.y = (bits * keep).sum(1) % 2

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.len[i], self.y[i]


class Net(nn.Module):
    def __init__(self, h=24):
        super().__init__()
        self.rnn = nn.GRU(2, h, batch_first=True)
        self.fc = nn.Linear(h, 2)

    def forward(self, x, lengths):
        out, _ = self.rnn(x)
        last = out[torch.arange(len(x)), lengths - 1]
        return self.fc(last)


ds, test = Parity(), Parity(300)
model = Net()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for stage, limit in enumerate([2, 3, 4, 6, 9]):
    allowed = torch.nonzero(ds.len <= limit).flatten().tolist()
    loader = DataLoader(ds, batch_size=30, sampler=SubsetRandomSampler(allowed))
    for epoch in range(max(2, 10 - 2 * stage)):
        for x, l, y in loader:
            loss = F.cross_entropy(model(x, l), y)
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
    with torch.no_grad():
        ok = model(test.x, test.len).argmax(1) == test.y
        easy = test.len <= limit
    print(f"stage {stage} rows {len(allowed)} loss {loss.item():.4f} acc in stage {ok[easy].float().mean():.3f} all {ok.float().mean():.3f}")
