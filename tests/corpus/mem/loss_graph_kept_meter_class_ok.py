import torch
import torch.nn as nn
import torch.nn.functional as F


class AverageMeter:
    def __init__(self, name):
        self.name = name
        self.reset()

    def reset(self):
        self.sum, self.count = 0.0, 0

    def update(self, value, n=1):
        self.sum += value.item() * n
        self.count += n

    @property
    def avg(self):
        return self.sum / self.count

    def __str__(self):
        return f"{self.name} {self.avg:.5f}"


class Projector(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(20, 48), nn.ReLU(), nn.Linear(48, 16))

    def forward(self, x):
        return F.normalize(self.encoder(x), dim=1)


def info_nce(a, b, temperature=0.2):
    logits = a @ b.t() / temperature
    target = torch.arange(len(a), device=a.device)
    return F.cross_entropy(logits, target)


def views(gen, n=48):
    base = torch.randn(n, 20, generator=gen)
    noise = lambda: 0.6 * torch.randn(n, 20, generator=gen)
    return base + noise(), base + noise()


def main():
    torch.manual_seed(0)
    gen = torch.Generator().manual_seed(0)
    net = Projector()
    opt = torch.optim.AdamW(net.parameters(), lr=5e-3)
    meter = AverageMeter("loss")
    for epoch in range(3):
        meter.reset()
        for _ in range(35):
            a, b = views(gen)
            loss = info_nce(net(a), net(b))
            opt.zero_grad()
            loss.backward()
            opt.step()
            meter.update(loss, len(a))
        print(f"epoch {epoch}: {meter}")


if __name__ == "__main__":
    main()
