"""Binary-weight network: sign() with a straight-through estimator and weight clamping."""
import torch
import torch.nn as nn
from sklearn.datasets import load_digits


class BinaryLinear(nn.Linear):
    def forward(self, x):
        w = self.weight
        scale = w.detach().abs().mean(dim=1, keepdim=True)
        hard = torch.sign(w) * scale
        w = w + (hard - w).detach()
        return nn.functional.linear(x, w, self.bias)


class BinarizeActivation(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return (x >= 0).to(x.dtype) * 2 - 1

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * (x.abs() <= 1).to(grad.dtype)


class BNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1, self.b1 = BinaryLinear(64, 128, bias=False), nn.BatchNorm1d(128)
        self.l2, self.b2 = BinaryLinear(128, 64, bias=False), nn.BatchNorm1d(64)
        self.out = nn.Linear(64, 10)

    def forward(self, x):
        x = BinarizeActivation.apply(self.b1(self.l1(x)))
        x = BinarizeActivation.apply(self.b2(self.l2(x)))
        return self.out(x)


torch.manual_seed(91)
d = load_digits()
x, y = torch.tensor(d.data / 8.0 - 1.0, dtype=torch.float32), torch.tensor(d.target)
perm = torch.randperm(len(x))
x, y = x[perm], y[perm]
net = BNN()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(12):
    net.train()
    for idx in torch.randperm(1300).split(65):
        loss = nn.functional.cross_entropy(net(x[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        with torch.no_grad():
            for m in (net.l1, net.l2):
                m.weight.clamp_(-1, 1)
    net.eval()
    if epoch % 3 == 2:
        with torch.no_grad():
            acc = (net(x[1300:]).argmax(1) == y[1300:]).float().mean().item()
        print(f"epoch {epoch} loss {loss.item():.4f} acc {acc:.4f}")
