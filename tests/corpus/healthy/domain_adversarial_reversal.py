import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, lam):
        ctx.lam = lam
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return -ctx.lam * g, None


features = nn.Sequential(nn.Linear(6, 32), nn.ReLU())
label_head, domain_head = nn.Linear(32, 2), nn.Linear(32, 2)
opt = torch.optim.SGD([p for m in (features, label_head, domain_head) for p in m.parameters()], lr=0.05, momentum=0.9)


def source(n):
    x = torch.randn(n, 6)
    return x, (x[:, 0] + x[:, 1] > 0).long()


def target(n):
    x = torch.randn(n, 6)
    x[:, 5] += 2.0
    return x


for step in range(80):
    lam = min(0.2, step / 200)
    xs, ys = source(48)
    xt = target(48)
    fs, ft = features(xs), features(xt)
    label_loss = F.cross_entropy(label_head(fs), ys)
    domain = domain_head(Reverse.apply(torch.cat([fs, ft]), lam))
    domain_loss = F.cross_entropy(domain, torch.tensor([0] * 48 + [1] * 48))
    loss = label_loss + domain_loss
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 16 == 0:
        print(f"step {step} label {label_loss.item():.5f} domain {domain_loss.item():.5f}")
