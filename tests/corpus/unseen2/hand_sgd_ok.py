import numpy as np
import torch

torch.manual_seed(1)
rng = np.random.default_rng(1)

# polynomial fit with hand-written parameter updates
x = torch.tensor(rng.uniform(-2, 2, 400), dtype=torch.float32)
y = 0.5 * x ** 3 - x + 0.3 + 0.1 * torch.randn(400)
x_test = torch.linspace(-2, 2, 100)
y_test = 0.5 * x_test ** 3 - x_test + 0.3


def features(t):
    return torch.stack([torch.ones_like(t), t, t ** 2 / 2, t ** 3 / 4], dim=1)


w = torch.zeros(4, requires_grad=True)
velocity = torch.zeros(4)
lr, beta = 0.05, 0.9

for step in range(300):
    idx = torch.randint(0, len(x), (64,))
    pred = features(x[idx]) @ w
    loss = ((pred - y[idx]) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        velocity.mul_(beta).add_(w.grad)
        w -= lr * velocity
        w.grad.zero_()
    if step % 60 == 0:
        print(f"step {step:3d} loss {loss.item():.4f}")


class Wrapper:
    def __init__(self, weights):
        self.weights = weights.detach().clone()

    def __call__(self, t):
        return features(t) @ self.weights


fit = Wrapper(w)
print("coefficients", [round(v, 3) for v in fit.weights.tolist()])
print("test mse", ((fit(x_test) - y_test) ** 2).mean().item())
