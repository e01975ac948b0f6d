"""vmap, grad, jacrev, jacfwd, hessian, jvp and functional_call beside an ordinary optimizer."""
import torch
from torch import nn
from torch.func import functional_call, grad, hessian, jacfwd, jacrev, jvp, stack_module_state, vjp, vmap

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
levels = []


def loss_of(parameters, x, y):
    levels.append(torch._C._functorch.peek_interpreter_stack() is not None)
    return (functional_call(model, parameters, (x.unsqueeze(0),)).squeeze() - y).square()


for step in range(4):
    x, y = torch.randn(5, 3), torch.randn(5)
    parameters = {name: value.detach() for name, value in model.named_parameters()}
    each = vmap(grad(loss_of), in_dims=(None, 0, 0))(parameters, x, y)
    optimizer.zero_grad()
    for name, parameter in model.named_parameters():
        norm = each[name].flatten(1).norm(dim=1).clamp(min=1.0)
        parameter.grad = (each[name] / norm.view(-1, *[1] * parameter.dim())).mean(0)
    optimizer.step()
    model.zero_grad()
    model(x).sum().backward()
    print(step, sum(p.sum().item() for p in model.parameters()), len(levels), all(levels))
one = torch.randn(3)
f = lambda t: model(t).sum() ** 2  # noqa: E731
print(jacrev(f)(one), jacfwd(f)(one), hessian(f)(one).norm(), jvp(f, (one,), (one,)), vjp(f, one)[0])
stacked, buffers = stack_module_state([nn.Linear(3, 1), nn.Linear(3, 1)])
base = nn.Linear(3, 1).to("meta")
print(vmap(lambda p, b: functional_call(base, (p, b), (one,)))(stacked, buffers))
