"""Domain-adversarial training: the gradient reversal layer returns negative gradients."""
import torch
import torch.nn as nn
from torch.autograd import Function


class GradReverse(Function):
    @staticmethod
    def forward(ctx, x, lam):
        ctx.lam = lam
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -ctx.lam * grad, None


class DANN(nn.Module):
    def __init__(self):
        super().__init__()
        self.feat = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU())
        self.label = nn.Linear(16, 2)
        self.domain = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, x, lam):
        f = self.feat(x)
        return self.label(f), self.domain(GradReverse.apply(f, lam)).squeeze(1)


def domain_data(n, target):
    y = torch.randint(0, 2, (n,))
    x = torch.randn(n, 6)
    x[:, 0] += 2.0 * (2 * y - 1)
    x[:, 3] += 3.0 if target else 0.0
    if not target:
        x[:, 3] += 0.5 * y
    return x, y


torch.manual_seed(37)
xs, ys = domain_data(600, False)
xt, yt = domain_data(600, True)
net = DANN()
opt = torch.optim.SGD(net.parameters(), lr=0.03, momentum=0.9)
STEPS = 300
for step in range(STEPS):
    lam = 2 / (1 + torch.exp(torch.tensor(-10.0 * step / STEPS)).item()) - 1
    i, j = torch.randint(0, 600, (64,)), torch.randint(0, 600, (64,))
    cls, dom_s = net(xs[i], lam)
    _, dom_t = net(xt[j], lam)
    dom = torch.cat([dom_s, dom_t])
    dom_y = torch.cat([torch.zeros(64), torch.ones(64)])
    loss = nn.functional.cross_entropy(cls, ys[i]) + nn.functional.binary_cross_entropy_with_logits(dom, dom_y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 60 == 0:
        with torch.no_grad():
            acc = (net(xt, 0.0)[0].argmax(1) == yt).float().mean().item()
        print(f"step {step} lambda {lam:.2f} loss {loss.item():.4f} target acc {acc:.4f}")
