import torch
from torch import nn


class SoftTargets:
    """Human soft labels: several annotators per sample."""

    def __init__(self, n, features, classes, annotators, gen):
        self.x = torch.randn(n, features, generator=gen)
        w = torch.randn(features, classes, generator=gen)
        p = torch.softmax(self.x @ w, dim=1)
        votes = torch.multinomial(p, annotators, replacement=True, generator=gen)
        counts = nn.functional.one_hot(votes, classes).sum(1).float()
        self.q = (counts + 0.5) / (annotators + 0.5 * classes)

    def batches(self, size, gen):
        for idx in torch.randperm(len(self.x), generator=gen).split(size):
            yield self.x[idx], self.q[idx]


class Learner:
    def __init__(self, features, classes, lr=0.02):
        self.net = nn.Sequential(nn.Linear(features, 24), nn.SiLU(), nn.Linear(24, classes))
        self.kl = nn.KLDivLoss(reduction="batchmean")
        self.opt = torch.optim.Adam(self.net.parameters(), lr=lr)

    def step(self, x, soft_target):
        log_pred = nn.functional.log_softmax(self.net(x), dim=1)
        loss = self.kl(soft_target, log_pred)
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        return loss.item()

    def agreement(self, x, soft_target):
        with torch.no_grad():
            return (self.net(x).argmax(1) == soft_target.argmax(1)).float().mean().item()


torch.manual_seed(0)
gen = torch.Generator().manual_seed(1)
data = SoftTargets(300, 10, 4, 7, gen)
learner = Learner(10, 4)
for epoch in range(8):
    losses = [learner.step(x, q) for x, q in data.batches(30, gen)]
    print(f"epoch {epoch} kl {sum(losses) / len(losses):.6f} agreement {learner.agreement(data.x, data.q):.4f}")
