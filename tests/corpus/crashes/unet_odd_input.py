import torch
import torch.nn as nn

SIZE = 50


class Up(nn.Module):
    def __init__(self, c_in, c_out):
        super().__init__()
        self.up = nn.Upsample(scale_factor=2)
        self.conv = nn.Conv2d(c_in, c_out, 3, padding=1)

    def forward(self, x, skip):
        return torch.relu(self.conv(torch.cat([self.up(x), skip], 1)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Conv2d(1, 4, 3, padding=1), nn.Conv2d(4, 8, 3, padding=1)
        self.c = nn.Conv2d(8, 8, 3, padding=1)
        self.pool = nn.MaxPool2d(2)
        self.up1, self.up2 = Up(16, 8), Up(12, 4)
        self.out = nn.Conv2d(4, 1, 1)

    def forward(self, x):
        a = torch.relu(self.a(x))
        b = torch.relu(self.b(self.pool(a)))
        c = torch.relu(self.c(self.pool(b)))
        return self.out(self.up2(self.up1(c, b), a))


torch.manual_seed(0)
net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(4):
    x = torch.rand(4, 1, SIZE, SIZE)
    loss = nn.functional.mse_loss(net(x), x)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
