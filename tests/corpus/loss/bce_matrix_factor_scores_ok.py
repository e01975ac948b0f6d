"""Implicit feedback: did user u click item i?"""
import torch
import torch.nn.functional as F


class MF(torch.nn.Module):
    def __init__(self, users, items, k):
        super().__init__()
        self.u = torch.nn.Embedding(users, k)
        self.i = torch.nn.Embedding(items, k)
        self.b = torch.nn.Embedding(items, 1)
        torch.nn.init.normal_(self.u.weight, std=0.3)
        torch.nn.init.normal_(self.i.weight, std=0.3)
        torch.nn.init.zeros_(self.b.weight)

    def forward(self, user, item):
        score = (self.u(user) * self.i(item)).sum(-1) + self.b(item).squeeze(-1)
        return score.sigmoid()


def interactions(users, items, n):
    taste_u, taste_i = torch.randn(users, 3), torch.randn(items, 3)
    user, item = torch.randint(users, (n,)), torch.randint(items, (n,))
    click = ((taste_u[user] * taste_i[item]).sum(-1) > 0).float()
    return user, item, click


def fit(model, user, item, click, epochs=12, bs=100):
    opt = torch.optim.Adagrad(model.parameters(), lr=0.2)
    history = []
    for _ in range(epochs):
        total = 0.0
        for rows in torch.randperm(len(user)).split(bs):
            prob = model(user[rows], item[rows])
            loss = F.binary_cross_entropy(prob, click[rows])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(rows)
        history.append(total / len(user))
    return history


if __name__ == "__main__":
    torch.manual_seed(21)
    log = fit(MF(30, 40, 6), *interactions(30, 40, 600))
    print("\n".join(f"{i:2d} {v:.5f}" for i, v in enumerate(log)))
