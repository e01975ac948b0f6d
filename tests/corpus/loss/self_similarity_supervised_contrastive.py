import torch
from sklearn.datasets import load_wine
from torch import nn


def supcon(z, labels, tau=0.3):
    """Pull samples of one class together, push the others away."""
    sim = z @ z.T / tau
    same = labels[:, None] == labels[None, :]
    log_prob = sim - torch.logsumexp(sim, dim=1, keepdim=True)
    per_anchor = (log_prob * same).sum(dim=1) / same.sum(dim=1).clamp(min=1)
    return -per_anchor.mean()


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(13, 32), nn.ReLU(), nn.Linear(32, 8))

    def forward(self, x):
        return nn.functional.normalize(self.f(x), dim=1)


def main():
    torch.manual_seed(0)
    wine = load_wine()
    order = torch.randperm(178)
    x, y = torch.tensor(wine.data, dtype=torch.float32)[order], torch.tensor(wine.target)[order]
    mean, std = x[:140].mean(0), x[:140].std(0)
    x = (x - mean) / std
    net = Encoder()
    opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for epoch in range(10):
        net.train()
        for idx in torch.randperm(140).split(35):
            loss = supcon(net(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
        if epoch % 2 == 1:
            net.eval()
            with torch.no_grad():
                z = net(x[140:])
                same = y[140:, None] == y[None, 140:]
                gap = (z @ z.T)[same].mean() - (z @ z.T)[~same].mean()
            print(f"epoch {epoch + 1} loss {loss.item():.5f} similarity gap {gap.item():.5f}")


if __name__ == "__main__":
    main()
