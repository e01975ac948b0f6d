"""Logistic regression on two moons with a hand written momentum optimizer."""
import torch
from sklearn.datasets import make_moons

torch.manual_seed(2)
points, target = make_moons(600, noise=0.15, random_state=2)
points = torch.tensor(points, dtype=torch.float32)
target = torch.tensor(target, dtype=torch.float32)
train_x, test_x = points[:450], points[450:]
train_y, test_y = target[:450], target[450:]


def init(inputs, outputs):
    weight = torch.randn(inputs, outputs) * (2.0 / inputs) ** 0.5
    return weight.requires_grad_(), torch.zeros(outputs, requires_grad=True)


w1, b1 = init(2, 32)
w2, b2 = init(32, 1)
params = [w1, b1, w2, b2]
velocity = [torch.zeros_like(p) for p in params]


def forward(x):
    hidden = torch.relu(x @ w1 + b1)
    return (hidden @ w2 + b2).squeeze(1)


def bce(logits, y):
    return torch.nn.functional.binary_cross_entropy_with_logits(logits, y)


def sgd_step(lr=0.1, momentum=0.9):
    with torch.no_grad():
        for param, v in zip(params, velocity):
            v.mul_(momentum).add_(param.grad)
            param = param - lr * v


def zero_grads():
    for param in params:
        param.grad = None


for epoch in range(200):
    loss = bce(forward(train_x), train_y)
    zero_grads()
    loss.backward()
    sgd_step()
    if (epoch + 1) % 50 == 0:
        with torch.no_grad():
            acc = ((forward(test_x) > 0).float() == test_y).float().mean().item()
        print(f"epoch {epoch + 1:3d} loss {loss.item():.4f} test accuracy {acc:.3f}")
