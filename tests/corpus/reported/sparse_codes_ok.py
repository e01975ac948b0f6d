"""Sparse autoencoder on digits, the hidden code should be mostly zero."""
import torch
from sklearn.datasets import load_digits
from torch import nn, optim

torch.manual_seed(13)
EPOCHS = 20
SPARSITY = 0.02

data = torch.tensor(load_digits().data, dtype=torch.float32) / 16
train_data, test_data = data[:1400], data[1400:]


class SparseAE(nn.Module):
    def __init__(self, code=64):
        super().__init__()
        self.encode = nn.Sequential(nn.Linear(64, code), nn.ReLU())
        self.decode = nn.Linear(code, 64)

    def forward(self, x):
        code = self.encode(x)
        return self.decode(code), code


model = SparseAE()
optimizer = optim.Adam(model.parameters(), lr=2e-3)
mse = nn.MSELoss()

for epoch in range(EPOCHS):
    model.train()
    epoch_loss = 0.0
    for batch in train_data[torch.randperm(len(train_data))].split(70):
        optimizer.zero_grad()
        output, code = model(batch)
        loss = mse(output, batch)
        loss = loss + SPARSITY * code.abs().mean()
        loss.backward()
        optimizer.step()
        epoch_loss += loss.item() * len(batch)
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1}: loss {epoch_loss / len(train_data):.4f}")

model.eval()
with torch.no_grad():
    output, code = model(test_data)
print(f"test error {mse(output, test_data).item():.4f}")
print(f"mean activation {code.abs().mean().item():.4f}, active share {(code > 1e-3).float().mean().item():.3f}")
