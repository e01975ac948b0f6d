import torch
from torch import nn
from torch.func import functional_call, grad, vmap

torch.manual_seed(4)
model = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 2))
opt = torch.optim.SGD(model.parameters(), lr=0.2)
clip, noise = 1.0, 0.05


def sample_loss(params, x, y):
    logits = functional_call(model, params, (x.unsqueeze(0),))
    return nn.functional.cross_entropy(logits, y.unsqueeze(0))


per_sample = vmap(grad(sample_loss), in_dims=(None, 0, 0))
x = torch.randn(256, 5)
y = (x[:, 0] > x[:, 1]).long()
for step in range(60):
    idx = torch.randint(0, 256, (32,))
    params = {k: p.detach() for k, p in model.named_parameters()}
    grads = per_sample(params, x[idx], y[idx])
    norms = torch.stack([g.flatten(1).norm(dim=1) for g in grads.values()]).norm(dim=0)
    scale = (clip / (norms + 1e-6)).clamp(max=1.0)
    for name, p in model.named_parameters():
        g = torch.einsum("b,b...->...", scale, grads[name])
        p.grad = (g + noise * clip * torch.randn_like(g)) / len(idx)
    opt.step()
    if step % 10 == 0:
        with torch.no_grad():
            print(f"step {step} loss {nn.functional.cross_entropy(model(x), y).item():.5f}")
