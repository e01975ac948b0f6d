import torch

torch.manual_seed(1)
X = torch.randn(300, 5)
true_w = torch.tensor([1.0, -2.0, 0.5, 0.0, 3.0])
y = X @ true_w + 0.7 + 0.05 * torch.randn(300)

w = torch.zeros(5, requires_grad=True)
b = torch.zeros((), requires_grad=True)
velocity = [torch.zeros_like(w), torch.zeros_like(b)]
lr, momentum = 0.03, 0.8

for step in range(150):
    idx = torch.randint(0, 300, (32,))
    loss = (X[idx] @ w + b - y[idx]).square().mean()
    grads = torch.autograd.grad(loss, [w, b])
    with torch.no_grad():
        for p, g, v in zip([w, b], grads, velocity):
            v.mul_(momentum).add_(g)
            p.sub_(lr * v)
    if step % 30 == 0:
        print(f"step {step} loss {loss.item():.4f}")
print("weights", [round(v, 2) for v in w.tolist()], "bias", round(b.item(), 2))


# closed form for comparison
design = torch.cat([X, torch.ones(300, 1)], dim=1)
solution = torch.linalg.lstsq(design, y.unsqueeze(1)).solution.squeeze(1)
print("closed form", [round(v, 2) for v in solution.tolist()])
with torch.no_grad():
    gap = (torch.cat([w, b.unsqueeze(0)]) - solution).abs().max()
    residual = y - X @ w - b
    r2 = 1 - residual.square().sum() / (y - y.mean()).square().sum()
print(f"largest gap {gap.item():.4f}")
print(f"r2 {r2.item():.4f}")
