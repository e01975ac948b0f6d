import torch
from torch import nn


class Autoencoder(nn.Module):
    def __init__(self, dim=20, code=4):
        super().__init__()
        self.enc = nn.Linear(dim, code)
        self.dec = nn.Linear(code, dim)

    def encode(self, x):
        return torch.tanh(self.enc(x))

    def forward(self, x):
        return self.dec(self.encode(x))


torch.manual_seed(0)
data = torch.randn(256, 4) @ torch.randn(4, 20)
model = Autoencoder()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(10):
    for batch in data.split(32):
        loss = nn.functional.mse_loss(model(batch), batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print("reconstruction", loss.item())
