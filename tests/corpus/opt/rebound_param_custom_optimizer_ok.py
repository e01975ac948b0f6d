"""A home-made momentum optimizer on a two-layer classifier written from raw tensors."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_wine

torch.manual_seed(0)
X, y = load_wine(return_X_y=True)
X = torch.tensor(X, dtype=torch.float32)
y = torch.tensor(y)
perm = torch.randperm(len(X))
train, test = perm[:130], perm[130:]
mu, sd = X[train].mean(0), X[train].std(0)
X = (X - mu) / sd


class Momentum:
    def __init__(self, params, lr, beta=0.9):
        self.params = params
        self.lr, self.beta = lr, beta
        self.velocity = [torch.zeros_like(p) for p in params]

    @torch.no_grad()
    def step(self):
        for p, v in zip(self.params, self.velocity):
            v.mul_(self.beta).add_(p.grad)
            p.sub_(v, alpha=self.lr)

    def zero_grad(self):
        for p in self.params:
            p.grad = None


W1 = (torch.randn(13, 16) * 0.3).requires_grad_()
b1 = torch.zeros(16, requires_grad=True)
W2 = (torch.randn(16, 3) * 0.3).requires_grad_()
b2 = torch.zeros(3, requires_grad=True)
forward = lambda x: torch.relu(x @ W1 + b1) @ W2 + b2

opt = Momentum([W1, b1, W2, b2], lr=0.05)
for epoch in range(12):
    order = train[torch.randperm(len(train))]
    for idx in order.split(26):
        loss = F.cross_entropy(forward(X[idx]), y[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 3 == 0:
        print(f"epoch {epoch:2d} loss {loss.item():.5f}")
with torch.no_grad():
    print("test acc", round((forward(X[test]).argmax(1) == y[test]).float().mean().item(), 4))
