import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Quantise(nn.Module):
    """Integer codes in the middle; gradients pass straight through."""

    def forward(self, z):
        return z + (torch.round(z) - z).detach()


class CodeAE(nn.Module):
    def __init__(self, dim=16, code=6):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(dim, 32), nn.ReLU(), nn.Linear(32, code))
        self.quantise = Quantise()
        self.decoder = nn.Sequential(nn.Linear(code, 32), nn.ReLU(), nn.Linear(32, dim))

    def forward(self, x):
        z = 4 * torch.tanh(self.encoder(x))
        return self.decoder(self.quantise(z))


def main():
    torch.manual_seed(91)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    data = torch.tanh(torch.randn(640, 3) @ torch.randn(3, 16))
    loader = DataLoader(TensorDataset(data), batch_size=64, shuffle=True)
    model = CodeAE().to(device)
    opt = torch.optim.Adam(model.parameters(), lr=4e-3)
    for epoch in range(8):
        total = 0.0
        for (x,) in loader:
            x = x.to(device)
            loss = F.mse_loss(model(x), x)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"epoch {epoch} mse {total / len(loader):.6f}")


if __name__ == "__main__":
    main()
