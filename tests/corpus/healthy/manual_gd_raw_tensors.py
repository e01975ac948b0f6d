import torch

torch.manual_seed(3)
n = 200
X = torch.cat([torch.ones(n, 1), torch.randn(n, 3)], dim=1)
true = torch.tensor([0.5, -1.0, 2.0, 0.7])
y = torch.bernoulli(torch.sigmoid(X @ true))

w = torch.zeros(4, requires_grad=True)
step_size = 0.5
for it in range(60):
    loss = torch.nn.functional.binary_cross_entropy_with_logits(X @ w, y)
    (g,) = torch.autograd.grad(loss, w)
    w = (w - step_size * g).detach().requires_grad_()
    if it % 12 == 0:
        print(f"{it:2d} nll {loss.item():.6f}")

print("w", [round(v, 3) for v in w.tolist()])

# Newton steps for comparison
v = torch.zeros(4, requires_grad=True)
for it in range(4):
    f = lambda t: torch.nn.functional.binary_cross_entropy_with_logits(X @ t, y)
    g = torch.autograd.functional.jacobian(f, v)
    H = torch.autograd.functional.hessian(f, v)
    v = (v - torch.linalg.solve(H, g)).detach().requires_grad_()
    print(f"newton {it} nll {f(v).item():.6f}")
