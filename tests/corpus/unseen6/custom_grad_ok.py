import torch
from torch import nn

torch.manual_seed(0)


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * torch.sigmoid(x)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        s = torch.sigmoid(x)
        return grad_output * (s + x * s * (1 - s))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(5, 32), nn.Linear(32, 1)

    def forward(self, x):
        return self.b(Swish.apply(self.a(x)))


x = torch.randn(512, 5)
y = x[:, :1] * x[:, 1:2]
net = Net()
opt = torch.optim.Adam(net.parameters(), 5e-3)
for epoch in range(10):
    for i in torch.randperm(512).split(64):
        loss = nn.functional.mse_loss(net(x[i]), y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(epoch, loss.item())
