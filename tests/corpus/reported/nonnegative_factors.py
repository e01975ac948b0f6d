"""Non-negative matrix factorisation of ratings by projected gradient steps."""
import torch
from torch import nn

torch.manual_seed(0)
USERS, ITEMS, RANK = 60, 40, 4

true_users = torch.rand(USERS, RANK)
true_items = torch.rand(ITEMS, RANK)
ratings = true_users @ true_items.t() + 0.02 * torch.randn(USERS, ITEMS)
observed = torch.rand(USERS, ITEMS) < 0.6


class Factors(nn.Module):
    def __init__(self, users, items, rank):
        super().__init__()
        self.users = nn.Parameter(torch.randn(users, rank) * 0.5)
        self.items = nn.Parameter(torch.randn(items, rank) * 0.5)

    def forward(self):
        return self.users @ self.items.t()

    @torch.no_grad()
    def project(self):
        for p in self.parameters():
            p.clamp(min=0.0)


def masked_error(prediction, mask):
    return ((prediction - ratings)[mask] ** 2).mean()


model = Factors(USERS, ITEMS, RANK)
model.project()
optimizer = torch.optim.Adam(model.parameters(), lr=0.03)

for step in range(1, 401):
    optimizer.zero_grad()
    loss = masked_error(model(), observed)
    loss.backward()
    optimizer.step()
    model.project()
    if step % 100 == 0:
        print(f"step {step}: error on the observed ratings {loss.item():.5f}")

with torch.no_grad():
    hidden_error = masked_error(model(), ~observed).item()
    negative = torch.cat([p.flatten() for p in model.parameters()]).lt(0).float().mean().item()
print(f"error on the hidden ratings {hidden_error:.5f}")
print(f"share of negative factors {negative:.3f}")
