import math

import torch
from modules import BayesNet


def toy_curve(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.rand(n, 1, generator=g) * 4 - 2
    y = torch.sin(2 * x) + 0.1 * torch.randn(n, 1, generator=g)
    return x, y


def nll(pred, y, noise=0.2):
    return (0.5 * ((pred - y) / noise) ** 2 + math.log(noise)).mean()


def main():
    torch.manual_seed(0)
    x, y = toy_curve(200, 0)
    xv, yv = toy_curve(60, 1)
    net = BayesNet(1, 24, 1)
    opt = torch.optim.Adam(net.parameters(), lr=2e-2)
    for step in range(100):
        idx = torch.randint(0, 200, (50,))
        fit = nll(net(x[idx]), y[idx])
        loss = fit + net.kl() / len(x)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 20 == 19:
            print(f"step {step + 1} elbo loss {loss.item():.5f} nll {fit.item():.5f}")
    net.eval()
    with torch.no_grad():
        print(f"val rmse {(net(xv) - yv).pow(2).mean().sqrt().item():.5f}")


if __name__ == "__main__":
    main()
