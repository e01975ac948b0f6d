import torch
from torch import nn

from lookahead import Lookahead


def spirals(n):
    k = torch.randint(0, 2, (n,))
    r = torch.rand(n) * 2 + 0.2
    a = r * 2.5 + k * 3.14159
    return torch.stack([r * a.cos(), r * a.sin()], dim=1) / 2, k


def main():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(2, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 2))
    opt = Lookahead(torch.optim.Adam(net.parameters(), lr=1e-2))
    for step in range(100):
        x, y = spirals(64)
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 20 == 0:
            print(f"step {step} loss {loss.item():.5f}")


if __name__ == "__main__":
    main()
