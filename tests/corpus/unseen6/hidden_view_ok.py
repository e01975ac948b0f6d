import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(5, 16, num_layers=1, bidirectional=True, batch_first=True)
        self.fc = nn.Linear(32, 2)

    def forward(self, x):
        _, (h, _) = self.rnn(x)
        h = h.transpose(0, 1).reshape(x.size(0), -1)
        return self.fc(h)


x = torch.randn(600, 12, 5)
y = (x[:, :, 0].sum(1) > 0).long()
net = Net()
opt = torch.optim.Adam(net.parameters(), 5e-3)
for epoch in range(6):
    for i in torch.randperm(600).split(40):
        out = net(x[i])
        loss = nn.functional.cross_entropy(out, y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
