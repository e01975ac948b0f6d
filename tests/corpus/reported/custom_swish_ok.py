import torch
import torch.nn as nn
from sklearn.datasets import load_digits


class SwishFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        gate = torch.sigmoid(x)
        ctx.save_for_backward(x, gate)
        return x * gate

    @staticmethod
    def backward(ctx, grad_output):
        x, gate = ctx.saved_tensors
        slope = gate * (1 + x * (1 - gate))
        return grad_output * slope


class Swish(nn.Module):
    def forward(self, x):
        return SwishFunction.apply(x)


class Mlp(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        layers = []
        for a, b in zip(sizes[:-2], sizes[1:-1]):
            layers += [nn.Linear(a, b), Swish()]
        layers.append(nn.Linear(sizes[-2], sizes[-1]))
        self.layers = nn.Sequential(*layers)

    def forward(self, x):
        return self.layers(x)


def load(seed):
    data = load_digits()
    g = torch.Generator().manual_seed(seed)
    order = torch.randperm(len(data.target), generator=g)
    x = torch.tensor(data.data, dtype=torch.float32)[order] / 16 - 0.3
    y = torch.tensor(data.target)[order]
    return (x[:1400], y[:1400]), (x[1400:], y[1400:])


def main():
    torch.manual_seed(0)
    (x, y), (x_val, y_val) = load(0)
    model = Mlp([64, 48, 24, 10])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(10):
        model.train()
        for idx in torch.randperm(len(x)).split(50):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x[idx]), y[idx])
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            val = model(x_val)
            val_loss = nn.functional.cross_entropy(val, y_val).item()
            acc = (val.argmax(1) == y_val).float().mean().item()
        print(f"epoch {epoch}: val loss {val_loss:.3f} val acc {acc:.3f}")


main()
