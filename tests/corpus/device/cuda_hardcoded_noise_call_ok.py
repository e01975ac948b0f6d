import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(9)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class DAE(nn.Module):
    def __init__(self, d=24):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(d, 16), nn.ReLU(), nn.Linear(16, 6))
        self.decoder = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, d))

    def forward(self, x):
        return self.decoder(self.encoder(x))


signal = torch.sin(torch.rand(400, 1) * 6 + torch.linspace(0, 6, 24))
loader = DataLoader(TensorDataset(signal), batch_size=50, shuffle=True)
model = DAE().to(device)
opt = torch.optim.Adam(model.parameters(), lr=5e-3)

for epoch in range(8):
    total = 0.0
    for (clean,) in loader:
        clean = clean.to(device)
        noisy = clean + 0.2 * torch.randn(clean.shape, device=device)
        loss = nn.functional.mse_loss(model(noisy), clean)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    print(f"epoch {epoch} mse {total / len(loader):.6f}")
