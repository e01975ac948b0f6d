import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F


def parse():
    p = argparse.ArgumentParser(description="noise-robust embeddings")
    p.add_argument("--updates", type=int, default=30)
    p.add_argument("--chunks", type=int, default=4)
    p.add_argument("--chunk-size", type=int, default=24)
    p.add_argument("--temperature", type=float, default=0.2)
    return p.parse_args()


def views(n, prototypes):
    base = prototypes[torch.randint(0, len(prototypes), (n,))] + 0.5 * torch.randn(n, prototypes.size(1))
    return base + 0.1 * torch.randn_like(base), base + 0.1 * torch.randn_like(base)


def info_nce(a, b, temperature):
    a, b = F.normalize(a, dim=1), F.normalize(b, dim=1)
    logits = a @ b.t() / temperature
    labels = torch.arange(len(a), device=a.device)
    return 0.5 * (F.cross_entropy(logits, labels) + F.cross_entropy(logits.t(), labels))


def main():
    args = parse()
    torch.manual_seed(8)
    prototypes = torch.randn(20, 16)
    encoder = nn.Sequential(nn.Linear(16, 48), nn.ReLU(), nn.Linear(48, 12))
    optimizer = torch.optim.Adam(encoder.parameters(), lr=3e-3)

    for update in range(args.updates):
        total = 0.0
        for _ in range(args.chunks):
            encoder.zero_grad()
            a, b = views(args.chunk_size, prototypes)
            loss = info_nce(encoder(a), encoder(b), args.temperature) / args.chunks
            loss.backward()
            total += loss.item()
        optimizer.step()
        if update % 5 == 0:
            print(f"{update:3d} nce {total:.6f}")


if __name__ == "__main__":
    main()
