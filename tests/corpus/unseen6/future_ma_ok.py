import torch
from torch import nn

torch.manual_seed(0)
steps = torch.randn(1600)
price = steps.cumsum(0)
k = 5
smooth = torch.stack([price[max(0, t - k) : t + 1].mean() for t in range(1600)])
L = 16
xs = torch.stack([torch.stack([price[t - L : t] - price[t - 1], smooth[t - L : t] - price[t - 1]], 1) for t in range(L, 1595)])
ys = torch.stack([price[t] - price[t - 1] for t in range(L, 1595)]).unsqueeze(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(2, 24, batch_first=True)
        self.fc = nn.Linear(24, 1)

    def forward(self, x):
        return self.fc(self.rnn(x)[1][0])


cut = 1200
net = Net()
opt = torch.optim.Adam(net.parameters(), 3e-3)
for epoch in range(6):
    net.train()
    for i in torch.randperm(cut).split(50):
        loss = nn.functional.mse_loss(net(xs[i]), ys[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        print(epoch, loss.item(), nn.functional.mse_loss(net(xs[cut:]), ys[cut:]).item())
