"""Fit a noisy polynomial; lower the rate when validation stalls."""
import torch
from torch import nn
from torch.optim.lr_scheduler import ReduceLROnPlateau


def polynomial(count, generator):
    x = torch.rand(count, 1, generator=generator) * 4 - 2
    y = 0.5 * x ** 3 - x + 0.1 * torch.randn(count, 1, generator=generator)
    return x, y


class Fitter:
    def __init__(self, width=32, lr=0.02):
        self.net = nn.Sequential(nn.Linear(1, width), nn.Tanh(), nn.Linear(width, 1))
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=lr)
        self.criterion = nn.MSELoss()

    def epoch(self, x, y):
        for rows in torch.randperm(len(x)).split(50):
            self.optimizer.zero_grad()
            self.criterion(self.net(x[rows]), y[rows]).backward()
            self.optimizer.step()

    @torch.no_grad()
    def validate(self, x, y):
        return self.criterion(self.net(x), y).item()


def main():
    torch.manual_seed(58)
    generator = torch.Generator().manual_seed(58)
    train, val = polynomial(500, generator), polynomial(150, generator)
    fitter = Fitter()
    scheduler = ReduceLROnPlateau(fitter.optimizer, mode="min", factor=0.5, patience=2)
    for epoch in range(20):
        fitter.epoch(*train)
        val_loss = fitter.validate(*val)
        scheduler.step()
        if epoch % 5 == 4:
            rate = fitter.optimizer.param_groups[0]["lr"]
            print(f"epoch {epoch + 1} val {val_loss:.4f} lr {rate:.4f}")


if __name__ == "__main__":
    main()
