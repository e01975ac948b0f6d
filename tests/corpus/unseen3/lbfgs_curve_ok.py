import torch
from torch import nn

torch.manual_seed(3)
x = torch.linspace(-3, 3, 120).unsqueeze(1)
y = torch.sin(2 * x) + 0.3 * x
model = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.8, max_iter=10, history_size=10, line_search_fn="strong_wolfe")
loss_fn = nn.MSELoss()


def closure():
    optimizer.zero_grad()
    loss = loss_fn(model(x), y)
    loss.backward()
    return loss


for it in range(15):
    loss = optimizer.step(closure)
    if it % 3 == 0:
        print(f"outer iteration {it} loss {loss.item():.6f}")
with torch.no_grad():
    print("max error", (model(x) - y).abs().max().item())


with torch.no_grad():
    mid = (x[1:] + x[:-1]) / 2
    truth = torch.sin(2 * mid) + 0.3 * mid
    between = loss_fn(model(mid), truth)
print(f"mse between the support points {between.item():.6f}")
grad_norm = torch.cat([p.grad.flatten() for p in model.parameters()]).norm()
print(f"gradient norm at the end {grad_norm.item():.5f}")
closures = optimizer.state[optimizer._params[0]]["func_evals"]
print("function evaluations", closures)
