import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(5)


class Polynomials(Dataset):
    """y = a x^2 + b x + c evaluated on a grid; recover (a, b, c)."""

    def __init__(self, n=384):
        g = torch.Generator().manual_seed(2)
        self.coef = torch.rand(n, 3, generator=g) * 2 - 1
        grid = torch.linspace(-1, 1, 16)
        basis = torch.stack([grid ** 2, grid, torch.ones_like(grid)])
        self.curve = self.coef @ basis

    def __len__(self):
        return len(self.coef)

    def __getitem__(self, i):
        return self.curve[i], self.coef[i]


def main():
    accumulation_steps = 16
    loader = DataLoader(Polynomials(), batch_size=32, shuffle=True)
    model = nn.Sequential(nn.Linear(16, 48), nn.Tanh(), nn.Linear(48, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    loss_fn = nn.MSELoss()

    for epoch in range(8):
        optimizer.zero_grad()
        epoch_loss = 0.0
        for i, (curve, coef) in enumerate(loader):
            loss = loss_fn(model(curve), coef)
            (loss / accumulation_steps).backward()
            epoch_loss += loss.item()
            if (i + 1) % accumulation_steps == 0:
                optimizer.step()
                optimizer.zero_grad()
        print(f"epoch {epoch} mse {epoch_loss / len(loader):.6f}")


if __name__ == "__main__":
    main()
