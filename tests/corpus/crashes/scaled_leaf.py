import torch


def start(n_in, n_out):
    return torch.randn(n_in, n_out, requires_grad=True) * 0.1


torch.manual_seed(0)
w1, w2 = start(3, 16), start(16, 1)
opt = torch.optim.SGD([w1, w2], lr=0.1)
x = torch.randn(100, 3)
y = x[:, :1] - x[:, 1:2]
for step in range(50):
    loss = ((x @ w1).tanh() @ w2 - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
