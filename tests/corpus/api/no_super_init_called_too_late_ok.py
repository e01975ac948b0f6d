import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class BaseModel(nn.Module):
    """Holds what all our regressors share."""

    def __init__(self, lr):
        super().__init__()
        self.lr = lr
        self.loss_fn = nn.SmoothL1Loss()

    def configure_optimizer(self):
        return torch.optim.Adam(self.parameters(), lr=self.lr)


class RBFRegressor(BaseModel):
    def __init__(self, centers=20, lr=0.02):
        super().__init__(lr)
        self.centers = nn.Parameter(torch.linspace(-3, 3, centers))
        self.log_width = nn.Parameter(torch.zeros(centers))
        self.mix = nn.Linear(centers, 1)

    def forward(self, x):
        phi = torch.exp(-((x - self.centers) / self.log_width.exp()) ** 2)
        return self.mix(phi)


def main():
    torch.manual_seed(26)
    x = torch.rand(360, 1) * 6 - 3
    y = torch.sin(2 * x) * torch.exp(-0.1 * x ** 2) + 0.05 * torch.randn(360, 1)
    loader = DataLoader(TensorDataset(x, y), batch_size=36, shuffle=True)
    model = RBFRegressor()
    opt = model.configure_optimizer()
    for epoch in range(10):
        total = 0.0
        for xb, yb in loader:
            opt.zero_grad()
            loss = model.loss_fn(model(xb), yb)
            loss.backward()
            opt.step()
            total += loss.item()
        print("%2d %.6f" % (epoch, total / len(loader)))


main()
