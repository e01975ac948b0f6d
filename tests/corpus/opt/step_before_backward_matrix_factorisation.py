import torch
from torch import nn

torch.manual_seed(9)
n_users, n_items, rank = 40, 30, 4
true_u = torch.randn(n_users, rank)
true_v = torch.randn(n_items, rank)
users = torch.randint(0, n_users, (1200,))
items = torch.randint(0, n_items, (1200,))
ratings = (true_u[users] * true_v[items]).sum(1) / rank ** 0.5


class MF(nn.Module):
    def __init__(self):
        super().__init__()
        self.user = nn.Embedding(n_users, rank)
        self.item = nn.Embedding(n_items, rank)
        nn.init.normal_(self.user.weight, std=0.3)
        nn.init.normal_(self.item.weight, std=0.3)

    def forward(self, u, i):
        return (self.user(u) * self.item(i)).sum(dim=1)


model = MF()
opt = torch.optim.Adam(model.parameters(), lr=0.05)

for epoch in range(6):
    order = torch.randperm(len(users))
    losses = []
    for idx in order.split(100):
        opt.zero_grad()
        pred = model(users[idx], items[idx])
        loss = ((pred - ratings[idx]) ** 2).mean()
        opt.step()
        loss.backward()
        losses.append(loss.item())
    print(f"epoch {epoch + 1}: {sum(losses) / len(losses):.5f}")
