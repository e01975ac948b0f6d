import torch
import torch.nn.functional as F

g = torch.Generator().manual_seed(3)
K, PER = 5, 64
centres = torch.randn(K, 6, generator=g) * 1.5
X = torch.cat([c + torch.randn(PER, 6, generator=g) for c in centres])
Y = torch.arange(K).repeat_interleave(PER)
Xt = torch.cat([c + torch.randn(20, 6, generator=g) for c in centres])
Yt = torch.arange(K).repeat_interleave(20)

torch.manual_seed(11)
W1 = (torch.randn(6, 32) * 0.4).requires_grad_()
b1 = torch.zeros(32, requires_grad=True)
W2 = (torch.randn(32, K) * 0.2).requires_grad_()
b2 = torch.zeros(K, requires_grad=True)
params = [W1, b1, W2, b2]
opt = torch.optim.SGD(params, lr=0.1)


def net(x):
    return torch.tanh(x @ W1 + b1) @ W2 + b2


bs = 32
for ep in range(8):
    tot = 0.
    for i in range(0, len(X), bs):
        xb, yb = X[i:i + bs], Y[i:i + bs]
        loss = F.cross_entropy(net(xb), yb)
        for p in params:
            p.grad = None
        loss.backward()
        opt.step()
        tot += loss.item()
    with torch.no_grad():
        acc = (net(Xt).argmax(1) == Yt).float().mean().item()
    print(ep, 'loss %.5f' % (tot / (len(X) / bs)), 'acc %.3f' % acc)
