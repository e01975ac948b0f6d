import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader

from data import TwoViews
from losses import info_nce


def encoder(dim, out):
    return nn.Sequential(nn.Linear(dim, 48), nn.GELU(), nn.Linear(48, out))


def main():
    p = argparse.ArgumentParser(description="two view contrastive pre-training")
    p.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    p.add_argument("--epochs", type=int, default=8)
    p.add_argument("--batch-size", type=int, default=48)
    p.add_argument("--lr", type=float, default=3e-3)
    args = p.parse_args()

    torch.manual_seed(5)
    loader = DataLoader(TwoViews(), batch_size=args.batch_size, shuffle=True, drop_last=True)
    enc_a, enc_b = encoder(16, 8).to(args.device), encoder(16, 8).to(args.device)
    opt = torch.optim.Adam([*enc_a.parameters(), *enc_b.parameters()], lr=args.lr)
    for epoch in range(args.epochs):
        losses = []
        for a, b in loader:
            a, b = a.to(args.device), b.to(args.device)
            loss = info_nce(enc_a(a), enc_b(b))
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
        print(f"epoch {epoch} nce {sum(losses) / len(losses):.6f}")


if __name__ == "__main__":
    main()
