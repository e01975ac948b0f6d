"""weight_norm, spectral_norm, orthogonal and a parametrization of the user's own."""
import torch
from torch import nn
from torch.nn.utils import parametrizations, parametrize

calls = []


class Symmetric(nn.Module):
    def forward(self, x):
        calls.append("forward")
        return x.triu() + x.triu(1).transpose(-1, -2)

    def right_inverse(self, x):
        calls.append("inverse")
        return x.triu()


torch.manual_seed(0)
a = parametrizations.weight_norm(nn.Linear(4, 4))
b = parametrizations.spectral_norm(nn.Linear(4, 4))
c = nn.Linear(4, 4)
parametrize.register_parametrization(c, "weight", Symmetric())
model = nn.Sequential(a, nn.Tanh(), b, nn.Tanh(), c)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(5):
    optimizer.zero_grad()
    loss = model(torch.randn(3, 4)).square().mean()
    loss.backward()
    optimizer.step()
    print(step, loss.item(), len(calls))
with parametrize.cached():
    model(torch.randn(3, 4))
    model(torch.randn(3, 4))
print(len(calls), type(c).__name__, list(model.state_dict()))
parametrize.remove_parametrizations(c, "weight")
print(type(c).__name__, torch.equal(c.weight, c.weight.T))
