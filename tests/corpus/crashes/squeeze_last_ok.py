import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class SeqClassifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(4, 16, batch_first=True)
        self.fc = nn.Linear(16, 3)

    def forward(self, x):
        _, (h, _) = self.rnn(x)
        h = h.squeeze(0)
        return self.fc(h)


torch.manual_seed(0)
x = torch.randn(129, 7, 4)
y = x.sum((1, 2)).sign().long() + 1
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
model = SeqClassifier()
criterion = nn.CrossEntropyLoss()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(3):
    for xb, yb in loader:
        opt.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        opt.step()
    print(epoch, loss.item())
