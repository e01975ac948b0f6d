import torch

torch.manual_seed(2)
n = 400
x = torch.randn(n, 3)
y = x @ torch.tensor([[1.5], [-2.0], [0.7]]) + 0.3 + 0.05 * torch.randn(n, 1)

w1 = (torch.randn(3, 16) / 3 ** 0.5).requires_grad_()
b1 = torch.zeros(16, requires_grad=True)
w2 = (torch.randn(16, 1) / 4).requires_grad_()
b2 = torch.zeros(1, requires_grad=True)
params = [w1, b1, w2, b2]
lr = 0.05


def forward(inp):
    return torch.tanh(inp @ w1 + b1) @ w2 + b2


for step in range(300):
    loss = ((forward(x[:300]) - y[:300]) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for p in params:
            p -= lr * p.grad
            p.grad = None
    if step % 60 == 0:
        print(step, loss.item())

with torch.no_grad():
    print("held-out mse", ((forward(x[300:]) - y[300:]) ** 2).mean().item())
