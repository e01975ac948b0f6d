"""Bayesian personalised ranking on synthetic clicks."""
import torch
import torch.nn.functional as F
from torch import nn

USERS, ITEMS, DIM = 80, 60, 8


class Factors(nn.Module):
    def __init__(self):
        super().__init__()
        self.users = nn.Embedding(USERS, DIM)
        self.items = nn.Embedding(ITEMS, DIM)
        nn.init.normal_(self.users.weight, std=0.1)
        nn.init.normal_(self.items.weight, std=0.1)

    def forward(self, user, item):
        return (self.users(user) * self.items(item)).sum(dim=1)


def clicks(seed):
    generator = torch.Generator().manual_seed(seed)
    taste = torch.randn(USERS, 3, generator=generator)
    kind = torch.randn(ITEMS, 3, generator=generator)
    score = taste @ kind.t() + 0.5 * torch.randn(USERS, ITEMS, generator=generator)
    liked = score.topk(12, dim=1).indices
    shuffled = torch.stack([row[torch.randperm(12, generator=generator)] for row in liked])
    return shuffled[:, :9], shuffled[:, 9:]


def hit_rate(model, train, test, k=10):
    with torch.no_grad():
        scores = model.users.weight @ model.items.weight.t()
        scores.scatter_(1, train, float("-inf"))
        top = scores.topk(k, dim=1).indices
    return (top.unsqueeze(2) == test.unsqueeze(1)).any(dim=1).float().mean().item()


def main():
    torch.manual_seed(66)
    train, test = clicks(66)
    seen = torch.zeros(USERS, ITEMS).scatter_(1, train, 1.0)
    user = torch.arange(USERS).repeat_interleave(train.size(1))
    item = train.flatten()
    model = Factors()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02, weight_decay=1e-4)
    for epoch in range(20):
        for rows in torch.randperm(len(user)).split(144):
            u = user[rows]
            negative = torch.multinomial(1 - seen[u], 1).squeeze(1)
            liked, unseen = model(u, item[rows]), model(u, negative)
            loss = -F.logsigmoid(unseen - liked).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1} loss {loss.item():.4f} hit rate {hit_rate(model, train, test):.3f}")


if __name__ == "__main__":
    main()
