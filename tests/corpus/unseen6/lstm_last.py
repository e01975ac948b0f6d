import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

torch.manual_seed(2)
data = []
for _ in range(512):
    n = int(torch.randint(3, 25, ()))
    x = torch.randn(n, 4)
    data.append((x, (x[-1, 0] > 0).long()))


def collate(items):
    xs, ys = zip(*items)
    return pad_sequence(xs, batch_first=True), torch.tensor([len(x) for x in xs]), torch.stack(ys)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(4, 32, batch_first=True)
        self.fc = nn.Linear(32, 2)

    def forward(self, x, lengths):
        out, _ = self.rnn(x)
        last = out[:, -1]
        return self.fc(last)


loader = DataLoader(data, 32, shuffle=True, collate_fn=collate)
net = Net()
opt = torch.optim.Adam(net.parameters(), 5e-3)
crit = nn.CrossEntropyLoss()
for epoch in range(8):
    right = 0
    for x, n, y in loader:
        opt.zero_grad()
        out = net(x, n)
        loss = crit(out, y)
        loss.backward()
        opt.step()
        right += (out.argmax(1) == y).sum().item()
    print(epoch, loss.item(), right / len(data))
