import argparse
import torch
import torch.nn.functional as F

p = argparse.ArgumentParser()
p.add_argument("--steps", type=int, default=80)
p.add_argument("--bs", type=int, default=32)
p.add_argument("--lr", type=float, default=3e-2)
args = p.parse_args()

torch.manual_seed(11)
N, D, T = 320, 20, 6          # samples, features, tags
true_w = torch.randn(D, T)
feats = torch.randn(N, D)
tags = (feats @ true_w + 0.3 * torch.randn(N, T) > 1.0).float()
tr, te = slice(0, 256), slice(256, None)

w1 = torch.nn.Linear(D, 32)
w2 = torch.nn.Linear(32, T)
params = [*w1.parameters(), *w2.parameters()]
opt = torch.optim.RMSprop(params, lr=args.lr / 10)


def net(x):
    return w2(F.gelu(w1(x)))


for step in range(args.steps):
    idx = torch.randint(0, 256, (args.bs,))
    xb, yb = feats[tr][idx], tags[tr][idx]
    scores = net(xb).sigmoid()
    loss = F.binary_cross_entropy_with_logits(scores, yb)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 16 == 0 or step == args.steps - 1:
        with torch.no_grad():
            prob = torch.sigmoid(net(feats[te]))
            exact = ((prob > 0.5) == tags[te].bool()).float().mean()
        print(f"{step:4d} loss {loss.item():.5f} tag-acc {exact.item():.4f}")
