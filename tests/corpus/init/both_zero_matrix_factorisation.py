import torch
from torch import nn


class MatrixFactorisation(nn.Module):
    def __init__(self, n_users, n_items, k=6):
        super().__init__()
        self.users = nn.Embedding(n_users, k)
        self.items = nn.Embedding(n_items, k)
        nn.init.zeros_(self.users.weight)
        nn.init.zeros_(self.items.weight)

    def forward(self, u, i):
        return (self.users(u) * self.items(i)).sum(dim=1)


torch.manual_seed(40)
n_users, n_items = 40, 30
taste, style = torch.randn(n_users, 3), torch.randn(n_items, 3)
u, i = torch.cartesian_prod(torch.arange(n_users), torch.arange(n_items)).T
rating = (taste[u] * style[i]).sum(1) / 3 ** 0.5 + 0.1 * torch.randn(len(u))
order = torch.randperm(len(u))
train, test = order[:960], order[960:]

model = MatrixFactorisation(n_users, n_items)
opt = torch.optim.Adam(model.parameters(), lr=0.05)
for epoch in range(6):
    total = 0.0
    for rows in train[torch.randperm(len(train))].split(60):
        err = model(u[rows], i[rows]) - rating[rows]
        loss = (err ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(rows)
    with torch.no_grad():
        rmse = (model(u[test], i[test]) - rating[test]).pow(2).mean().sqrt()
    print(f"epoch {epoch} train mse {total / len(train):.5f} test rmse {rmse.item():.5f}")
