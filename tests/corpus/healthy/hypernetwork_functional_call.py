import torch
from torch import nn
from torch.func import functional_call

torch.manual_seed(0)
target_net = nn.Sequential(nn.Linear(1, 12), nn.Tanh(), nn.Linear(12, 1))
for p in target_net.parameters():
    p.requires_grad_(False)             # its weights are produced by the hypernetwork
shapes = {k: p.shape for k, p in target_net.named_parameters()}
total = sum(s.numel() for s in shapes.values())
hyper = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, total))


def weights(code):
    flat, out, i = hyper(code), {}, 0
    for name, shape in shapes.items():
        out[name] = flat[i:i + shape.numel()].view(shape)
        i += shape.numel()
    return out


opt = torch.optim.Adam(hyper.parameters(), lr=3e-3)
for step in range(80):
    loss = 0.0
    for _ in range(4):
        a, b = (torch.rand(2) * 2 - 1).tolist()
        x = torch.rand(16, 1) * 2 - 1
        pred = functional_call(target_net, weights(torch.tensor([a, b])), (x,))
        loss = loss + nn.functional.mse_loss(pred, a * x + b) / 4
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 16 == 0:
        print(f"step {step} loss {loss.item():.5f}")
