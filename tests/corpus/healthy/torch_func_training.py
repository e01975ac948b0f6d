"""Training without an optimizer object: parameters are a dictionary that is replaced each step."""
import torch
from torch import nn
from torch.func import functional_call, grad_and_value

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(1, 32), nn.SiLU(), nn.Linear(32, 1))
params = {k: v.detach().clone() for k, v in model.named_parameters()}
momentum = {k: torch.zeros_like(v) for k, v in params.items()}

x = torch.linspace(-2, 2, 128).unsqueeze(1)
y = x ** 3 / 4 - x / 2


def loss_fn(p, xb, yb):
    return ((functional_call(model, p, (xb,)) - yb) ** 2).mean()


step_fn = grad_and_value(loss_fn)
for step in range(100):
    idx = torch.randint(0, 128, (32,))
    grads, loss = step_fn(params, x[idx], y[idx])
    momentum = {k: 0.9 * momentum[k] + grads[k] for k in params}
    params = {k: params[k] - 0.03 * momentum[k] for k in params}
    if step % 20 == 0:
        print(f"step {step} loss {loss.item():.6f}")

model.load_state_dict(params)
with torch.no_grad():
    print(f"final mse {((model(x) - y) ** 2).mean().item():.6f}")
