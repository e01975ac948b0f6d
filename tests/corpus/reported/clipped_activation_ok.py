import torch
from torch import nn
from torch.autograd import Function


class ClipSTE(Function):
    """Round to a grid inside [-limit, limit], pass gradients straight through."""

    @staticmethod
    def forward(ctx, x, limit):
        ctx.save_for_backward(x)
        ctx.limit = limit
        return (x.clamp(-limit, limit) * 8).round() / 8

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        inside = (x.abs() <= ctx.limit).to(grad.dtype)
        return grad * inside, None


class QuantNet(nn.Module):
    def __init__(self, limit=2.0):
        super().__init__()
        self.limit = limit
        self.first = nn.Linear(4, 32)
        self.second = nn.Linear(32, 1)

    def forward(self, x):
        return self.second(ClipSTE.apply(self.first(x), self.limit))


def batches(count, generator):
    for _ in range(count):
        x = torch.randn(64, 4, generator=generator)
        yield x, x.clamp(-1, 1).sum(dim=1, keepdim=True)


def main():
    torch.manual_seed(56)
    generator = torch.Generator().manual_seed(56)
    model = QuantNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for step, (x, y) in enumerate(batches(200, generator)):
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 0:
            print(step, f"{loss.item():.4f}")


if __name__ == "__main__":
    main()
