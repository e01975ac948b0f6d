import argparse
import torch
from torch import nn


def transactions(n, rate, gen):
    fraud = (torch.rand(n, generator=gen) < rate).float()
    x = torch.randn(n, 8, generator=gen)
    x[:, :3] += 1.6 * fraud.unsqueeze(1)
    return x, fraud


def build(width):
    layers = [nn.Linear(8, width), nn.LeakyReLU(0.1), nn.Linear(width, 1)]
    return nn.Sequential(*layers)


def metrics(model, x, y):
    model.eval()
    with torch.no_grad():
        flagged = model(x).squeeze(1) > 0
    tp = (flagged & (y == 1)).sum().item()
    return tp / max(1, int(y.sum())), tp / max(1, int(flagged.sum()))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=6)
    ap.add_argument("--fraud-rate", type=float, default=0.06)
    ap.add_argument("--width", type=int, default=16)
    opt = ap.parse_args()

    torch.manual_seed(0)
    gen = torch.Generator().manual_seed(12)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    x, y = transactions(1000, opt.fraud_rate, gen)
    xv, yv = transactions(400, opt.fraud_rate, gen)
    x, y, xv, yv = x.to(device), y.to(device), xv.to(device), yv.to(device)
    n_pos, n_neg = y.sum(), (1 - y).sum()
    pos_weight = n_neg / n_pos
    model = build(opt.width).to(device)
    loss_fn = nn.BCEWithLogitsLoss(pos_weight=pos_weight)
    sgd = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for ep in range(opt.epochs):
        model.train()
        for rows in torch.randperm(len(x), device=device).split(100):
            loss = loss_fn(model(x[rows]).squeeze(1), y[rows])
            sgd.zero_grad()
            loss.backward()
            sgd.step()
        recall, precision = metrics(model, xv, yv)
        print(f"ep {ep} loss {loss.item():.5f} recall {recall:.3f} precision {precision:.3f}")


if __name__ == "__main__":
    main()
