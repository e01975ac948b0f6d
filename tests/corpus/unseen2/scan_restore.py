import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(27)
NOISE = 0.3

scans = torch.tensor(load_digits().images / 16.0, dtype=torch.float32).unsqueeze(1)
train_loader = DataLoader(TensorDataset(scans[:1400]), batch_size=50, shuffle=True)
test_scans = scans[1400:]


class DenoisingAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(),
                                     nn.Conv2d(16, 16, 3, padding=1), nn.ReLU())
        self.decoder = nn.Conv2d(16, 1, 3, padding=1)

    def forward(self, x):
        return self.decoder(self.encoder(x))


def corrupt(x):
    return x + NOISE * torch.randn_like(x)


model = DenoisingAE()
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

for epoch in range(12):
    train_loss = 0.0
    for (clean,) in train_loader:
        noisy = corrupt(clean)
        optimizer.zero_grad()
        output = model(noisy)
        loss = criterion(output, noisy)
        loss.backward()
        optimizer.step()
        train_loss += loss.item() * clean.size(0)
    if epoch % 3 == 2:
        print(f"Epoch: {epoch + 1} \tTraining Loss: {train_loss / 1400:.5f}")

model.eval()
with torch.no_grad():
    noisy = corrupt(test_scans)
    restored = model(noisy)
print("mse noisy vs clean   ", criterion(noisy, test_scans).item())
print("mse restored vs clean", criterion(restored, test_scans).item())
