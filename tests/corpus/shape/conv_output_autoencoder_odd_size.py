import torch
import torch.nn as nn
import torch.nn.functional as F


class ConvAutoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        # 1 x 14 x 14 -> 8 x 7 x 7 -> 16 x 4 x 4
        self.enc1 = nn.Conv2d(1, 8, 3, stride=2, padding=1)
        self.enc2 = nn.Conv2d(8, 16, 3, stride=2, padding=1)
        self.dec1 = nn.ConvTranspose2d(16, 8, 3, stride=2, padding=1, output_padding=1)
        self.dec2 = nn.ConvTranspose2d(8, 1, 3, stride=2, padding=1, output_padding=1)

    def forward(self, x):
        z = F.relu(self.enc1(x))
        z = F.relu(self.enc2(z))
        y = F.relu(self.dec1(z))
        return self.dec2(y)


def blobs(n):
    """Pictures with one soft spot each."""
    axis = torch.arange(14.0)
    cx = torch.rand(n, 1, 1) * 10 + 2
    cy = torch.rand(n, 1, 1) * 10 + 2
    d2 = (axis.view(1, 1, 14) - cx) ** 2 + (axis.view(1, 14, 1) - cy) ** 2
    return torch.exp(-d2 / 6).unsqueeze(1)


def main():
    torch.manual_seed(0)
    data = blobs(256)
    model = ConvAutoencoder()
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(8):
        epoch_loss = 0.0
        for batch in data[torch.randperm(len(data))].split(32):
            recon = model(batch)
            loss = F.mse_loss(recon, batch)
            opt.zero_grad()
            loss.backward()
            opt.step()
            epoch_loss += loss.item() / 8
        print(f"epoch {epoch} mse {epoch_loss:.6f}")


if __name__ == "__main__":
    main()
