import torch
import torch.nn.functional as F

torch.manual_seed(0)


def init(sizes):
    ps = []
    for a, b in zip(sizes[:-1], sizes[1:]):
        ps += [(torch.randn(b, a) / a ** 0.5).requires_grad_(), torch.zeros(b, requires_grad=True)]
    return ps


def forward(x, ps):
    for i in range(0, len(ps) - 2, 2):
        x = torch.tanh(F.linear(x, ps[i], ps[i + 1]))
    return F.linear(x, ps[-2], ps[-1])


def sample_task(k=10):
    amp, phase = torch.rand(1) * 2 + 0.5, torch.rand(1) * 3.14
    make = lambda: (lambda x: (x, amp * torch.sin(x + phase)))(torch.rand(k, 1) * 6 - 3)
    return make(), make()


def adapt(ps, support, steps=2, inner_lr=0.05):
    fast = ps
    for _ in range(steps):
        loss = F.mse_loss(forward(support[0], fast), support[1])
        grads = torch.autograd.grad(loss, fast, create_graph=True)
        fast = [p - inner_lr * g for p, g in zip(fast, grads)]
    return fast


theta = init([1, 32, 32, 1])
meta_opt = torch.optim.Adam(theta, lr=3e-3)
running = []
for it in range(60):
    meta_opt.zero_grad()
    meta_loss = 0.0
    for _ in range(4):
        support, query = sample_task()
        fast = adapt(theta, support)
        meta_loss = meta_loss + F.mse_loss(forward(query[0], fast), query[1]) / 4
    meta_loss.backward()
    meta_opt.step()
    running.append(meta_loss.item())
    if it % 12 == 11:
        print(f"meta iteration {it + 1} query loss {sum(running[-12:]) / 12:.5f}")
