import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def make_signals(n, gen):
    t = torch.linspace(0, 1, 64)
    label = torch.randint(0, 3, (n,), generator=gen)
    freq = 4 + 5 * label.float()
    phase = torch.rand(n, 1, generator=gen) * 6.28
    sig = torch.sin(6.28 * freq[:, None] * t + phase)
    return sig + 0.4 * torch.randn(n, 64, generator=gen), label


def build():
    return nn.Sequential(
        nn.Unflatten(1, (1, 64)),
        nn.Conv1d(1, 16, 7, padding=3), nn.ReLU(), nn.MaxPool1d(4),
        nn.Conv1d(16, 32, 5, padding=2), nn.ReLU(), nn.AdaptiveAvgPool1d(1),
        nn.Flatten(), nn.Linear(32, 3),
    )


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=6)
    ap.add_argument("--batch-size", type=int, default=48)
    ap.add_argument("--max-lr", type=float, default=1e-2)
    args = ap.parse_args()
    torch.manual_seed(11)
    gen = torch.Generator().manual_seed(11)
    x, y = make_signals(500, gen)
    ds = TensorDataset(x, y)
    loader = DataLoader(ds, batch_size=args.batch_size, shuffle=True)
    model = build()
    opt = torch.optim.SGD(model.parameters(), lr=args.max_lr, momentum=0.9)
    total = args.epochs * len(loader)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=args.max_lr, total_steps=total)
    crit = nn.CrossEntropyLoss()
    for epoch in range(args.epochs):
        running = 0.0
        for xb, yb in loader:
            opt.zero_grad()
            loss = crit(model(xb), yb)
            loss.backward()
            opt.step()
            sched.step()
            running += loss.item() * len(yb)
        print(f"[{epoch}] loss={running / len(ds):.4f} lr={sched.get_last_lr()[0]:.5f}")
    xt, yt = make_signals(200, gen)
    with torch.no_grad():
        print("test acc", (model(xt).argmax(1) == yt).float().mean().item())


if __name__ == "__main__":
    main()
