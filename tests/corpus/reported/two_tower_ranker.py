"""Matrix factorisation with biases for a small rating table."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class TwoTower(nn.Module):
    def __init__(self, users, items, dim=8):
        self.user = nn.Embedding(users, dim)
        self.item = nn.Embedding(items, dim)
        self.user_bias = nn.Embedding(users, 1)
        self.item_bias = nn.Embedding(items, 1)

    def forward(self, user, item):
        dot = (self.user(user) * self.item(item)).sum(dim=1)
        return dot + self.user_bias(user).squeeze(1) + self.item_bias(item).squeeze(1)


def ratings(users, items, count, generator):
    taste = torch.randn(users, 3, generator=generator)
    style = torch.randn(items, 3, generator=generator)
    u = torch.randint(0, users, (count,), generator=generator)
    i = torch.randint(0, items, (count,), generator=generator)
    score = (taste[u] * style[i]).sum(1) + 0.1 * torch.randn(count, generator=generator)
    return TensorDataset(u, i, score)


def main():
    torch.manual_seed(27)
    generator = torch.Generator().manual_seed(27)
    loader = DataLoader(ratings(60, 80, 2400, generator), batch_size=120, shuffle=True)
    model = TwoTower(60, 80)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    criterion = nn.MSELoss()
    for epoch in range(5):
        total = 0.0
        for user, item, score in loader:
            optimizer.zero_grad()
            loss = criterion(model(user, item), score)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} mse {total / len(loader):.3f}")


if __name__ == "__main__":
    main()
