"""A gradient penalty: create_graph, autograd.grad, backward through backward."""
import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(3, 8), nn.Softplus(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(critic.parameters(), lr=0.01)
for step in range(5):
    x = torch.randn(6, 3, requires_grad=True)
    score = critic(x)
    (slope,) = torch.autograd.grad(score.sum(), x, create_graph=True)
    penalty = (slope.norm(dim=1) - 1).square().mean()
    loss = score.mean() + 10 * penalty
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    first = critic[0].weight.grad.clone()
    loss.backward()
    print(step, loss.item(), penalty.item(), torch.equal(critic[0].weight.grad, 2 * first), x.grad.sum().item())
    optimizer.step()
y = torch.ones(2, requires_grad=True)
y.pow(3).sum().backward(create_graph=True, inputs=[y])
y.grad.sum().backward()
print(y.grad.tolist(), torch.autograd.functional.hessian(lambda v: v.pow(3).sum(), torch.ones(2)).tolist())
