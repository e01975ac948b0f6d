import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F


class TwoTower(nn.Module):
    def __init__(self, n_users=12, n_items=16, dim=16):
        super().__init__()
        self.user_emb = nn.Embedding(n_users, dim)
        self.item_emb = nn.Embedding(n_items, dim)
        self.user_mlp = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, 8))
        self.item_mlp = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(), nn.Linear(dim, 8))
        self.score = nn.Sequential(nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, user, item):
        u = self.user_mlp(self.user_emb(user))
        v = self.item_mlp(self.item_emb(item))
        pairs = torch.tensor([a + b for a, b in zip(u.tolist(), v.tolist())])
        return self.score(pairs).squeeze(1)


def interactions(n, gen):
    user = torch.randint(0, 12, (n,), generator=gen)
    item = torch.randint(0, 16, (n,), generator=gen)
    return user, item, ((user % 4) == (item % 4)).float()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--iters", type=int, default=90)
    ap.add_argument("--lr", type=float, default=2e-2)
    ap.add_argument("--batch-size", type=int, default=96)
    ap.add_argument("--seed", type=int, default=4)
    a = ap.parse_args()

    torch.manual_seed(a.seed)
    gen = torch.Generator().manual_seed(a.seed)
    model = TwoTower()
    optim = torch.optim.Adam(model.parameters(), lr=a.lr)
    for i in range(a.iters):
        user, item, click = interactions(a.batch_size, gen)
        loss = F.binary_cross_entropy_with_logits(model(user, item), click)
        optim.zero_grad()
        loss.backward()
        optim.step()
        if i % 15 == 0:
            print(f"iter {i:3d} bce {loss.item():.5f}")


if __name__ == "__main__":
    main()
