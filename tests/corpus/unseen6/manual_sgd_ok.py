import torch

torch.manual_seed(0)
x = torch.randn(200, 3)
y = x @ torch.tensor([1.0, -2.0, 0.5]) + 0.7
w, b = torch.zeros(3, requires_grad=True), torch.zeros(1, requires_grad=True)
for epoch in range(50):
    loss = ((x @ w + b - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        for p in (w, b):
            p -= 0.1 * p.grad
            p.grad.zero_()
    if epoch % 10 == 0:
        print(epoch, loss.item())
print(w.tolist(), b.item())
