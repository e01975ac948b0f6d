"""Wine recommender: matrix factorisation trained with BPR."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class BPRMF(nn.Module):
    def __init__(self, n_users, n_items, dim=12):
        super().__init__()
        self.user = nn.Embedding(n_users, dim)
        self.item = nn.Embedding(n_items, dim)
        self.bias = nn.Embedding(n_items, 1)
        nn.init.normal_(self.user.weight, std=0.1)
        nn.init.normal_(self.item.weight, std=0.1)
        nn.init.zeros_(self.bias.weight)

    def score(self, u, i):
        return (self.user(u) * self.item(i)).sum(-1) + self.bias(i).squeeze(-1)

    def full(self, u):
        return self.user(u) @ self.item.weight.t() + self.bias.weight.squeeze(-1)


def interactions(n_users, n_items, per_user=14):
    taste, style = torch.randn(n_users, 3), torch.randn(n_items, 3)
    affinity = taste @ style.t() + 0.3 * torch.randn(n_users, n_items)
    liked = affinity.topk(per_user, dim=1).indices
    liked = liked[:, torch.randperm(per_user)]
    return liked[:, :-2], liked[:, -2:]


def hit_rate(model, train, test, k=10):
    users = torch.arange(len(train))
    with torch.no_grad():
        s = model.full(users)
    s.scatter_(1, train, float("-inf"))
    top = s.topk(k, dim=1).indices
    return (top[:, :, None] == test[:, None, :]).any(1).float().mean().item()


def main():
    torch.manual_seed(50)
    n_users, n_items = 80, 300
    train, test = interactions(n_users, n_items)
    users = torch.arange(n_users).repeat_interleave(train.size(1))
    items = train.reshape(-1)
    model = BPRMF(n_users, n_items)
    opt = torch.optim.Adam(model.parameters(), lr=2e-2, weight_decay=1e-5)
    for epoch in range(60):
        total = 0.0
        for idx in torch.randperm(len(users)).split(128):
            u, pos = users[idx], items[idx]
            neg = torch.randint(0, n_users, (len(idx),))
            loss = -F.logsigmoid(model.score(u, pos) - model.score(u, neg)).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
        if epoch % 15 == 14:
            print(f"epoch {epoch + 1} loss {total / len(users):.4f} HR@10 {hit_rate(model, train, test):.4f}")


if __name__ == "__main__":
    main()
