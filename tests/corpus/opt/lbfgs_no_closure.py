import torch

torch.manual_seed(0)
n = 120
t = torch.linspace(0, 4, n)
observed = 2.5 * torch.exp(-0.7 * t) * torch.cos(3.0 * t + 0.4) + 0.02 * torch.randn(n)

amplitude = torch.nn.Parameter(torch.tensor(1.0))
decay = torch.nn.Parameter(torch.tensor(0.3))
omega = torch.nn.Parameter(torch.tensor(2.8))
phase = torch.nn.Parameter(torch.tensor(0.0))
params = [amplitude, decay, omega, phase]


def simulate():
    return amplitude * torch.exp(-decay * t) * torch.cos(omega * t + phase)


optimizer = torch.optim.LBFGS(params, lr=0.5, max_iter=8, line_search_fn="strong_wolfe")


for it in range(10):
    optimizer.zero_grad()
    loss = torch.mean((simulate() - observed) ** 2)
    loss.backward()
    optimizer.step()
    print(f"iteration {it}: {loss.item():.8f}")

print([round(p.item(), 4) for p in params])
