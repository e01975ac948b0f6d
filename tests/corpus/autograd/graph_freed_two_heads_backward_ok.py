import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class MultiTask(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(6, 32), nn.Tanh())
        self.price = nn.Linear(32, 1)
        self.kind = nn.Linear(32, 4)

    def forward(self, x):
        h = self.trunk(x)
        return self.price(h), self.kind(h)


def houses(n):
    x = torch.randn(n, 6)
    price = (x[:, :3].sum(1, keepdim=True) + 0.2 * torch.randn(n, 1)) / 3 ** 0.5
    kind = (x[:, 3] > 0).long() * 2 + (x[:, 4] > 0).long()
    return TensorDataset(x, price, kind)


def main():
    torch.manual_seed(5)
    loader = DataLoader(houses(400), batch_size=40, shuffle=True)
    model = MultiTask()
    optimizer = torch.optim.Adam(model.parameters(), lr=6e-3)
    mse, ce = nn.MSELoss(), nn.CrossEntropyLoss()
    for epoch in range(6):
        sums = [0.0, 0.0]
        for x, price, kind in loader:
            optimizer.zero_grad()
            price_hat, kind_hat = model(x)
            loss_price = mse(price_hat, price)
            loss_kind = ce(kind_hat, kind)
            (loss_price + loss_kind).backward()
            optimizer.step()
            sums[0] += loss_price.item()
            sums[1] += loss_kind.item()
        print("epoch", epoch, *(f"{s / len(loader):.6f}" for s in sums))


main()
