import math

import torch
import torch.nn.functional as F

torch.manual_seed(0)
INNER_LR, META_BATCH, SHOTS = 0.05, 8, 10


def init_weights():
    shapes = [(40, 1), (40,), (40, 40), (40,), (1, 40), (1,)]
    out = []
    for s in shapes:
        w = torch.randn(s) / math.sqrt(s[1]) if len(s) == 2 else torch.zeros(s)
        out.append(w.requires_grad_())
    return out


def forward(w, x):
    h = torch.tanh(F.linear(x, w[0], w[1]))
    h = torch.tanh(F.linear(h, w[2], w[3]))
    return F.linear(h, w[4], w[5])


def task():
    amp = 0.5 + 2 * torch.rand(())
    phase = math.pi * torch.rand(())

    def draw(n):
        x = torch.rand(n, 1) * 6 - 3
        return x, amp * torch.sin(x + phase)

    return draw


def adapt(w, x, y, steps, create_graph):
    fast = list(w)
    for _ in range(steps):
        loss = F.mse_loss(forward(fast, x), y)
        grads = torch.autograd.grad(loss, fast, create_graph=create_graph)
        fast = [p - INNER_LR * g for p, g in zip(fast, grads)]
    return fast


weights = init_weights()
meta_opt = torch.optim.Adam(weights, lr=3e-3)
for it in range(150):
    meta_opt.zero_grad()
    total = 0.0
    for _ in range(META_BATCH):
        draw = task()
        fast = adapt(weights, *draw(SHOTS), steps=1, create_graph=True)
        xq, yq = draw(SHOTS)
        loss = F.mse_loss(forward(fast, xq), yq) / META_BATCH
        loss.backward()
        total += loss.item()
    meta_opt.step()
    if it % 30 == 29:
        print(f"meta step {it + 1} query loss {total:.4f}")

before = after = 0.0
for _ in range(20):
    draw = task()
    xs, ys = draw(SHOTS)
    xq, yq = draw(50)
    fast = adapt(weights, xs, ys, steps=5, create_graph=False)
    with torch.no_grad():
        before += F.mse_loss(forward(weights, xq), yq).item() / 20
        after += F.mse_loss(forward(fast, xq), yq).item() / 20
print(f"before adaptation {before:.4f} after {after:.4f}")
