import math
import torch
from sklearn.datasets import load_digits

torch.manual_seed(16)
digits = load_digits()
x_all = torch.tensor(digits.data[:1000], dtype=torch.float32) / 16
y_all = torch.tensor(digits.target[:1000])
x_train, y_train, x_valid, y_valid = x_all[:800], y_all[:800], x_all[800:], y_all[800:]

w1 = (torch.randn(64, 32) / math.sqrt(64)).requires_grad_()
b1 = torch.zeros(32, requires_grad=True)
w2 = (torch.randn(32, 10) / math.sqrt(32)).requires_grad_()
b2 = torch.zeros(10, requires_grad=True)


def model(xb):
    return torch.relu(xb @ w1 + b1) @ w2 + b2


loss_func = torch.nn.functional.cross_entropy
bs, lr, epochs = 50, 0.3, 5

for epoch in range(epochs):
    perm = torch.randperm(len(x_train))
    for i in range(0, len(x_train), bs):
        idx = perm[i:i + bs]
        loss = loss_func(model(x_train[idx]), y_train[idx])
        loss.backward()
        with torch.no_grad():
            for p in (w1, b1, w2, b2):
                p -= p.grad * lr
                p.grad.zero_()
    with torch.no_grad():
        valid = loss_func(model(x_valid), y_valid)
    print(epoch, f"{valid.item():.6f}")
